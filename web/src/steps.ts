/** The waterfall's categories in its order, as the pages name and colour them. */
export interface Step {
  readonly category: string;
  readonly word: string;
  readonly gloss: string;
  /** The class of its colour, see `charts.css`. */
  readonly of: string;
  readonly factor: 'price' | 'utilisation' | 'efficiency' | null;
}

export const STEPS: readonly Step[] = [
  { category: 'beside', word: 'Beside the GPU', gloss: 'storage, transfer, network', of: 'step-beside', factor: null },
  { category: 'stranded', word: 'Stranded', gloss: 'committed, nothing runs', of: 'step-stranded', factor: 'price' },
  {
    category: 'unallocated',
    word: 'Unallocated',
    gloss: 'up, nobody has it',
    of: 'step-unallocated',
    factor: 'utilisation',
  },
  { category: 'unknown', word: 'Unknown', gloss: 'held, not measured', of: 'unknown', factor: null },
  { category: 'idle', word: 'Idle', gloss: 'held, not computing', of: 'step-idle', factor: 'utilisation' },
  { category: 'starved', word: 'Starved', gloss: 'waits for input', of: 'step-starved', factor: 'efficiency' },
  { category: 'lost', word: 'Lost', gloss: 'failed or repeated', of: 'step-lost', factor: 'efficiency' },
  { category: 'computing', word: 'Computed', gloss: 'what remains', of: 'step-useful', factor: null },
];

export function stepOf(category: string): Step | undefined {
  return STEPS.find((step) => step.category === category);
}
