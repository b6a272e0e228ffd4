interface Amount {
  readonly usdMicros: string | null;
  readonly gpuSeconds: number;
}

/** Whether nothing lies in it: no money, and no GPU time that might have no price. */
export function isNothing({ usdMicros, gpuSeconds }: Amount): boolean {
  return gpuSeconds === 0 && (usdMicros === null || usdMicros === '0');
}

interface Asked {
  readonly team: string | undefined;
  readonly filter?: string | undefined;
  /** The key that leads to facts. */
  readonly towards: '[' | ']';
}

export const TOWARDS_WORDS = { '[': 'the window before', ']': 'the window after' } as const;

/** What a page says of a window in which nothing lies, and what to do next. */
export function emptyWords({ team, filter, towards }: Asked): string {
  const whose = team === undefined ? '' : ` of ${team}`;
  return filter === undefined || filter === ''
    ? `No facts${whose} lie in this window: press ${towards} for ${TOWARDS_WORDS[towards]}, or choose another above; bursar import brings more in.`
    : `Nothing${whose} in this window matches the filter: take a filter off, or choose another window above.`;
}
