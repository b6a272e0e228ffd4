import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DevicePresence } from './device-presence.ts';
import type { SeenSeries } from './series-devices.ts';

const HOUR = 3600;
const HOURS = 60;
/** The last sample of an hour lies before its end. */
const LAST_S = HOUR - 30;

/** What happens at the beginning of an hour: whether the exporter speaks in it, and which place gets which GPU. */
const hour = fc.record({
  speaks: fc.boolean(),
  swap: fc.option(fc.record({ place: fc.nat(2), device: fc.nat(5) }), { freq: 6 }),
});

type Span = [device: string, fromS: number, untilS: number];

/** A machine whose places hold one GPU each; gives what was seen hour by hour. A GPU is never at two places. */
function sightings(places: number, hours: readonly (typeof hour extends fc.Arbitrary<infer Hour> ? Hour : never)[]) {
  const installed = Array.from({ length: places }, (_, place) => `g${place}`);
  return hours.map(({ speaks, swap }, at) => {
    const device = swap === null ? '' : `g${swap.device}`;
    if (swap !== null && swap.place < places && !installed.includes(device)) installed[swap.place] = device;
    return speaks ? installed.map((each): Span => [each, at * HOUR, at * HOUR + LAST_S]) : [];
  });
}

function rowsOf(hours: readonly (readonly Span[])[], gpus: number, restarts: boolean): Span[] {
  let presence = new DevicePresence();
  const rows = new Map<string, Span>();
  for (const [at, seen] of hours.entries()) {
    presence.list(new Map([['n', { fromS: 0, gpus }]]));
    presence.see(
      seen.map(([deviceId, fromS, untilS]): SeenSeries => ({
        deviceId,
        nodeId: 'n',
        exporter: 'e',
        device: 0,
        firstMs: fromS * 1000,
        lastMs: untilS * 1000,
      })),
    );
    if (seen.length > 0) presence.settle((at + 1) * HOUR);
    for (const row of presence.changes(30, undefined, new Set(['n'])).devices) {
      const [from, until] = [row['present_from'] as Date, row['present_until'] as Date | undefined];
      const device = row['device_id'] as string;
      const untilS = until === undefined ? HOURS * HOUR : until.getTime() / 1000;
      rows.set(`${device} ${from.getTime()}`, [device, from.getTime() / 1000, untilS]);
    }
    const kept = presence.kept((at + 1) * HOUR);
    if (restarts) presence = new DevicePresence(JSON.parse(JSON.stringify(kept)));
  }
  return [...rows.values()];
}

describe('GPUs that change places while their exporter comes and goes', () => {
  it('are never more than the machine has, and each is there whenever it is seen, in one run or in many', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.array(hour, { maxLength: HOURS }), (places, hours) => {
        const seen = sightings(places, hours);
        const rows = rowsOf(seen, places, false);
        const isAt = ([, fromS, untilS]: Span, second: number) => fromS <= second && second < untilS;
        for (let at = 0; at < seen.length; at += 1) {
          const middle = at * HOUR + HOUR / 2;
          const there = rows.filter((row) => isAt(row, middle));
          const isHeard = seen.some((each) => each.length > 0);
          expect(there.length, `GPUs at hour ${at}`).toBe(isHeard ? places : 0);
          for (const [device] of seen[at] ?? []) {
            expect(there.filter(([each]) => each === device).length, `${device} at hour ${at}`).toBe(1);
          }
        }
        const inOrder = (spans: readonly Span[]) => spans.map(String).toSorted((a, b) => (a < b ? -1 : 1));
        expect(inOrder(rowsOf(seen, places, true))).toEqual(inOrder(rows));
      }),
      { numRuns: 500 },
    );
  });
});
