import { describe, expect, it } from 'vitest';
import type { Standing } from '../../app/serve/standing.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { readiness } from './health.ts';

const NOW = new Date('2026-03-02T08:00:00Z');
const minutesAgo = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000);

/** What is told where the writer, or the ledger, is so; `ready` or the code of what is wrong. */
async function told(trouble: string | undefined, since: Date | undefined): Promise<string> {
  const standing = {
    current: async () => ({ snapshot: { generation: 7 }, scope: undefined, staleRows: 3 }) as unknown as Standing,
    configTrouble: () => undefined,
    behindSince: () => since,
    close: () => undefined,
  };
  const writer = {
    does: 'derives' as const,
    trouble: trouble === undefined ? undefined : new OperationError(trouble, 'it went wrong'),
    lastDerivedAt: undefined,
    lastDeriveSeconds: undefined,
  };
  return readiness({ standing, writer: () => writer, now: () => NOW }).then(
    ({ status }) => status,
    (failure: OperationError) => failure.code,
  );
}

describe('a server is', () => {
  it.each([
    { name: 'ready where nothing is wrong', want: 'ready' },
    { name: 'not ready where nothing can be written', trouble: 'disk-full', want: 'writer-trouble' },
    { name: 'ready where somebody else is writing just now', trouble: 'locked', want: 'ready' },
    { name: 'ready while the ledger follows', since: minutesAgo(15), want: 'ready' },
    { name: 'not ready where nobody derives any more', since: minutesAgo(16), want: 'stale-ledger' },
    {
      name: 'not ready where somebody else holds the folder and does not derive',
      trouble: 'locked',
      since: minutesAgo(16),
      want: 'stale-ledger',
    },
  ])('$name', async ({ trouble, since, want }) => expect(await told(trouble, since)).toBe(want));
});
