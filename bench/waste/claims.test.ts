import { describe, expect, it } from 'vitest';
import { openDuck } from '../demo/duck.mjs';
import { claimedReasonsOf, claimsOf } from './claims.mjs';

/** One holder's hour: what was true, what the waterfall says, what findings take of it, in dollars and parts. */
interface Hour {
  readonly truth: Record<string, number>;
  readonly arguable?: number;
  readonly ours: number;
  readonly takes: readonly number[];
  readonly questions?: readonly number[];
}

async function claimsIn({ truth, arguable = 0, ours, takes, questions = [] }: Hour) {
  const duck = await openDuck();
  const cell = `'d1' AS device_id, '1' AS holder, TIMESTAMP '2026-10-31' AS hour`;
  const starved = Object.values(truth).reduce((sum, usd) => sum + usd, 0);
  await duck.run(
    `CREATE TABLE ours_hour AS SELECT ${cell}, 'starved' AS category, 'gap' AS reason, 'job 1' AS subject, ${ours} AS usd`,
  );
  await duck.run(`CREATE TABLE compared AS SELECT ${cell}, 0 AS true_idle, ${starved} AS true_starved, 0 AS true_lost,
    ${arguable} AS arguable_rest, 0 AS arguable_work, true AS is_alive`);
  await duck.run(`CREATE TABLE true_hour AS SELECT ${cell}, 'computing' AS category, 'stepping' AS reason, 95 AS usd`);
  for (const [reason, usd] of Object.entries(truth)) {
    await duck.run(`INSERT INTO true_hour SELECT ${cell}, 'starved', '${reason}', ${usd}`);
  }
  await duck.run(`CREATE TABLE taken (finding BIGINT, subject VARCHAR, device_id VARCHAR, first_day DATE, last_day DATE,
    category VARCHAR, reason VARCHAR, part DOUBLE, is_question BOOLEAN)`);
  for (const [finding, part] of [...takes, ...questions].entries()) {
    await duck.run(`INSERT INTO taken VALUES (${finding}, 'job 1', 'd1', DATE '2026-10-31', DATE '2026-10-31', 'starved', 'gap', ${part},
      ${finding >= takes.length})`);
  }
  const claims = await claimsOf(duck);
  const reasons = [...(await claimedReasonsOf(duck))].toSorted(([a], [b]) => a.localeCompare(b));
  return {
    claims: claims.map(({ usd, trueUsd, arguableUsd }) => [usd, trueUsd, arguableUsd]),
    reasons: Object.fromEntries(reasons),
  };
}

describe('what findings claim', () => {
  const cases: Record<string, { hour: Hour; claims: number[][]; reasons: Record<string, number> }> = {
    'is true up to the truth of its category, however much else was in the hour': {
      hour: { truth: { 'all-reduce': 5 }, ours: 40, takes: [1] },
      claims: [[40, 5, 0]],
      reasons: { 'starved: all-reduce': 5 },
    },
    'is of several true reasons by their money': {
      hour: { truth: { 'all-reduce': 10, 'waiting-for-data': 30 }, ours: 20, takes: [1] },
      claims: [[20, 20, 0]],
      reasons: { 'starved: all-reduce': 5, 'starved: waiting-for-data': 15 },
    },
    'beyond the truth is arguable as far as that goes': {
      hour: { truth: { 'all-reduce': 5 }, arguable: 10, ours: 40, takes: [1] },
      claims: [[40, 5, 10]],
      reasons: { 'starved: all-reduce': 5 },
    },
    'by two findings is not true twice': {
      hour: { truth: { 'all-reduce': 20 }, ours: 40, takes: [0.75, 0.25] },
      claims: [
        [30, 15, 0],
        [10, 5, 0],
      ],
      reasons: { 'starved: all-reduce': 20 },
    },
    'is nothing where it is a question': {
      hour: { truth: { 'all-reduce': 20 }, ours: 40, takes: [], questions: [1] },
      claims: [],
      reasons: {},
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { hour, claims, reasons }) => {
    expect(await claimsIn(hour)).toEqual({ claims, reasons });
  });
});
