import { modelWords } from './wording.ts';

/** `a ÷ b` in thousandths, rounded down; 0 where there is nothing to divide by. */
export function permilleOf(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.floor((part * 1000) / whole);
}

/** What runs of one kind have in common: where they were handed out, their name without its numbers, the model they ran on. */
export interface KindOfWork {
  readonly home: string;
  readonly stem: string | null;
  readonly model: string | null;
}

/** One text for a kind, to group by. */
export function kindKey({ home, stem, model }: KindOfWork): string {
  return JSON.stringify([home, stem, model]);
}

/** `llm-pretrain` of the stem `llm-pretrain-0`, which stands for all its numbers. */
export function stemWords(stem: string | null): string {
  return stem === null ? 'unnamed work' : stem.replace(/[-_.]0$/, '');
}

/** `llm-pretrain on H100`. */
export function kindWords(kind: KindOfWork): string {
  return `${stemWords(kind.stem)} on ${modelOrGpus(kind)}`;
}

/** The same, told apart from its namesakes elsewhere and from the one run without a number: what a finding is about. */
export function kindPlace(kind: KindOfWork): string {
  const words = `${kind.stem ?? stemWords(null)} on ${modelOrGpus(kind)}`;
  return kind.home === '' ? words : `${words} in ${kind.home}`;
}

const modelOrGpus = ({ model }: KindOfWork): string => (model === null ? 'GPUs' : modelWords(model));

/** The days of a window, both included. */
export function windowDays({ from, until }: { readonly from: Date; readonly until: Date }): {
  readonly firstDay: string;
  readonly lastDay: string;
} {
  const last = new Date(Math.max(from.getTime(), until.getTime() - 1));
  return { firstDay: from.toISOString().slice(0, 10), lastDay: last.toISOString().slice(0, 10) };
}

/** An interval as people set it: `40 s`, `75 min`, `2 h 15 min`. */
export function intervalWords(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 90) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
