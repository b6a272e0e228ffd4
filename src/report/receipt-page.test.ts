import { expect, it } from 'vitest';
import type { JobAnswer } from './job-page.ts';
import { receiptLines } from './receipt-page.ts';
import type { Receipt, ReceiptStyle } from './receipt-page.ts';

const at = new Date('2026-03-02T10:00:00Z');

/** Names, models and outcomes are what somebody's scheduler and driver say. */
function receiptOf(model: string, outcome: string): Receipt {
  const units = { computingUnits: 63_000n, idleUnits: 0n, starvedUnits: 0n, lostUnits: 0n, unknownUnits: 0n };
  const job: JobAnswer = {
    asOf: at,
    source: 'slurm',
    allocationId: '7',
    name: 'train',
    user: null,
    team: null,
    project: null,
    class: null,
    cluster: null,
    attempts: [{ attempt: 0, heldFrom: new Date('2026-03-02T08:00:00Z'), heldUntil: at, outcome, gpus: 1 }],
    categories: [{ category: 'computing', usdMicros: 5n, gpuUnits: 63_000n }],
    computingBy: [],
    usdMicros: 5n,
    unpricedUnits: 0n,
    conflictUnits: 0n,
    sharedSeconds: 0,
    basisUsdMicros: {},
    devices: [{ deviceId: 'd', nodeId: 'n', model, usdMicros: 5n, ...units }],
    beside: { parts: [], waiting: undefined },
    findings: [],
  };
  const money = { usdMicros: 5n, components: [], basisUsdMicros: {} };
  const nothing = { idleUsdMicros: null, starvedUsdMicros: null, lostUsdMicros: null, kind: undefined, work: [] };
  return { job, from: at, until: at, isRunning: false, ...money, ...nothing };
}

it.each<[ReceiptStyle, string, string]>([
  ['slack', '<!channel>', '&lt;!channel&gt;'],
  ['slack', '_a_ *b* `c` ~d~', "`_a_ *b* 'c' ~d~`"],
  ['markdown', '[x](//evil)', String.raw`\[x\]`],
])('what a model and an outcome are called is text for %s', (style, name, want) => {
  const [first = ''] = receiptLines(receiptOf(name, name), style);
  expect(first).not.toContain(name);
  expect(first.split(want).length - 1).toBe(2);
});
