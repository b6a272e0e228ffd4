import { expect, test } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows } from '../../test/holder-rows.ts';
import type { Row } from '../../test/stage-on.ts';
import { idleSessions } from './idle-sessions.ts';

/** A session that is used until six in the evening and from eight in the morning on, and ends at noon. */
const night = (id: string, day: number, more: Row = {}) =>
  holderRows([
    {
      id,
      manner: 'interactive',
      kind: 'Notebook',
      name: 'notes',
      from: `02-${day} 08:00`,
      until: `02-${day + 1} 12:00`,
      gpus: {
        [`gpu-${id}`]: {
          computing: [
            [`02-${day} 08:00`, `02-${day} 18:00`],
            [`02-${day + 1} 08:00`, `02-${day + 1} 12:00`],
          ],
          more,
        },
      },
    },
  ]);

type Tables = ReturnType<typeof night>;
const together = (all: readonly Tables[]): Tables => ({
  stint_day: all.flatMap((rows) => rows.stint_day),
  subject: all.flatMap((rows) => rows.subject),
  subject_day: all.flatMap((rows) => rows.subject_day),
});

/** What no scheduler handed out. */
const BOX = { allocation_id: null, source: null, manner: null, workload_kind: null, workload_name: null };
const boxes = (place: Row) =>
  ['b1', 'b2', 'b3'].map((id, n) => {
    const rows = night(id, 10, { ...BOX, node_id: id, subject: `node ${id}`, cluster: 'workstations' });
    const subject = { day: '2026-02-11', subject: `node ${id}`, what: 'node', ...place, resource_id: `i-0${n}` };
    return { ...rows, subject: [subject] };
  });

test('one night says when it began, and how its days went', async () => {
  const [claim] = await claimsOn(idleSessions, night('1', 10));
  expect(claim?.because[1]).toBe('It was 14 h, from 2026-02-10 18:00 on.');
  // Ten hours of sixteen, four of twelve.
  expect(claim?.spark?.slice(0, 3)).toEqual([625, 333, null]);
});

test('several say when the longest began, and in which days they lie', async () => {
  const [claim] = await claimsOn(idleSessions, together([night('1', 10), night('2', 12)]));
  expect(claim?.because[1]).toBe(
    'The longest was 14 h, from 2026-02-10 18:00 on. They lie from 2026-02-10 to 2026-02-13.',
  );
});

test.each<{ name: string; place: Row; fix: readonly string[] }>([
  {
    name: 'of a cloud come with the command that stops them there',
    place: { provider: 'AWS', region: 'us-east-1' },
    fix: [
      '# by a schedule of its cloud or by cron, in the evening and before weekends:',
      'aws ec2 stop-instances --instance-ids i-00 i-01 i-02 --region us-east-1',
    ],
  },
  {
    name: 'of nobody known stop by themselves',
    place: {},
    fix: ['shutdown +600  # in the morning: it ends by itself in the evening'],
  },
])('boxes are named, and those $name', async ({ place, fix }) => {
  const [claim] = await claimsOn(idleSessions, together(boxes(place)));
  expect(claim?.because[2]).toBe('Boxes: b1, b2, b3.');
  expect(claim?.fix).toEqual(fix);
});

test('where only samples speak, a box is told by its GPU', async () => {
  const alone = { ...BOX, node_id: null, subject: 'device GPU-b0' };
  const [nights] = await claimsOn(idleSessions, night('1', 10, alone));
  expect(nights?.what).toBe('box with GPU-b0 left on unused once, 1×H100');
  const open = { ...alone, ended_at: null };
  const now = '2026-02-12';
  const rows = holderRows([
    {
      manner: null,
      from: '02-10 00:00',
      until: '02-12 00:00',
      isOpen: true,
      gpus: { g: { computing: [['02-10 00:00', '02-10 18:00']], more: open } },
    },
  ]);
  const [live] = await claimsOn(idleSessions, rows, { from: '2026-02-02', until: now, now });
  expect(live?.what).toBe('box with GPU-b0 idle since Tue 18:00, 1×H100');
  expect(live?.fix).toEqual([
    '# stop the machine with GPU-b0 where it was started; what is owned can be lent out instead',
  ]);
});
