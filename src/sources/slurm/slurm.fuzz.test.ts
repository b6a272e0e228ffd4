import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { readCursor } from './slurm-cursor.ts';
import { expandNodeList, expandTasks } from './parse/node-list.ts';
import { readJobstats } from './parse/jobstats.ts';
import { accountedJob, queuedJob } from './parse/job-json.ts';
import { isLeftOut } from './parse/slurm-job.ts';
import { nodeFromJson } from './parse/slurm-node.ts';
import { durationSeconds, slurmClock } from './parse/slurm-time.ts';
import { memoryBytes, parseGres, parseTres } from './parse/tres.ts';
import { holdingRows } from './rows/holding-rows.ts';
import { readSlurmText } from './recognise.ts';
import { sacctTaker } from './sacct-file.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 10_000);
/** Longer than any of these inputs may take, even on a machine that does something else too. */
const HANGS_AFTER_MS = 5000;

const recorded = (name: string) => readFileSync(new URL(`parse/recorded/${name}`, import.meta.url), 'utf8');
const SACCT = [
  'JobID|State|Start|End|ElapsedRaw|Suspended|NodeList|AllocTRES|JobName',
  '3|COMPLETED|2026-11-16T04:56:01|2026-11-16T04:56:31|30|00:00:00|gpu-h100-[01-02]|billing=400,cpu=2,gres/gpu:h100=4,gres/gpu=4,mem=2000M,node=2|multi',
  '4_3|FAILED|2026-11-16T04:56:06|2026-11-16T04:56:10|4|00:00:00|gpu-h100-02|cpu=1,gres/gpu=1|sweep',
  '4_[5-9%2]|PENDING|Unknown|Unknown|0|00:00:00|None assigned||sweep',
  '18+1|CANCELLED by 0|None|Unknown|0|00:00:00|None assigned||het',
].join('\n');
const SEEDS = [
  SACCT,
  recorded('scontrol-job-22.05.txt'),
  recorded('scontrol-job-24.11.txt'),
  'normal*|up|c1|0/1/0/1|1000|N/A|1.46|4076|0|idle|none|(null)|1|0|gpu:tesla:4|gpu:tesla:3(IDX:0,2-3)\n',
  'NodeName=g1 CPUTot=96 Gres=gpu:h100:8(S:0-1) State=IDLE+DRAIN Reason=x [root@2026-11-16T04:56:28]\n',
];
const PIECES = [
  '|',
  '\n',
  '[',
  ']',
  '-',
  ',',
  '=',
  ':',
  '%',
  '+',
  '.',
  '(',
  '{',
  '"',
  '\0',
  '9'.repeat(30),
  'Unknown',
  'JobId=',
  '\u{1F4A5}',
  'gpu:',
  'IDX:',
];

/** A real text with some of it cut, doubled or replaced. */
const damaged = fc
  .tuple(
    fc.constantFrom(...SEEDS),
    fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(40), fc.constantFrom(...PIECES)), {
      maxLength: 6,
    }),
  )
  .map(([seed, cuts]) =>
    cuts.reduce((text, [place, length, piece]) => {
      const at = Math.floor(place * text.length);
      return text.slice(0, at) + piece + text.slice(at + length);
    }, seed),
  );
const field = fc.oneof(fc.string(), fc.stringMatching(/^[\w[\](),:=|%+.-]{0,40}$/), fc.constantFrom(...PIECES));

/** What came out: an answer or an OperationError with a hint, soon; anything else fails. */
function outcomeOf(read: () => unknown): string {
  const begun = performance.now();
  const soon = (word: string): string => (performance.now() - begun < HANGS_AFTER_MS ? word : 'it hung');
  try {
    read();
    return soon('fine');
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    return failure.hint === undefined ? `no hint: ${failure.message}` : soon('fine');
  }
}

const survives = <Input>(inputs: fc.Arbitrary<Input>, read: (input: Input) => unknown): void =>
  fc.assert(
    fc.property(inputs, (input) => {
      expect(outcomeOf(() => read(input))).toBe('fine');
    }),
    { numRuns: RUNS },
  );

describe('whatever comes in, a report or an OperationError comes out', () => {
  const clock = slurmClock('America/St_Johns');
  const keys = fc.constantFrom(
    'job_id',
    'job_state',
    'state',
    'current',
    'nodes',
    'tres',
    'allocated',
    'time',
    'start',
    'end',
    'gres',
    'gres_detail',
    'name',
    'array',
    'set',
    'number',
    'count',
    'type',
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      field,
      fc.integer(),
      fc.array(tie('tree')),
      fc.dictionary(keys, tie('tree')),
    ),
  }));
  const anyText = fc.oneof(
    field,
    fc.array(field).map((lines) => lines.join('\n')),
  );
  const cases: Record<string, () => void> = {
    'damaged output of every command': () =>
      survives(damaged, (text) => readSlurmText(text, { zone: 'Europe/Berlin' })),
    'any text': () => survives(anyText, (text) => readSlurmText(text, { zone: 'UTC' })),
    'any value of a column': () =>
      survives(field, (text) => [
        expandNodeList(text),
        expandTasks(text, 100),
        parseTres(text),
        parseGres(text),
        memoryBytes(text),
        durationSeconds(text),
        clock.read(text),
        readJobstats(`JS1:${text}`),
      ]),
    'any JSON where a job or a node should be': () =>
      survives(tree, (value) => {
        for (const job of [accountedJob(value), queuedJob(value)]) {
          if (!isLeftOut(job)) holdingRows(job, { attempt: 0 });
        }
        sacctTaker(new Map()).take(accountedJob(value), 'x');
        return [nodeFromJson(value), readCursor(value)];
      }),
  };
  it.each(Object.entries(cases))('%s', { timeout: 60_000 + RUNS * 10 }, (_, fuzz) => {
    expect(fuzz).not.toThrow();
  });
});
