import { describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { begun } from './begun.ts';

const at = (moment: string): string => `2026-03-${moment}:00`;

describe('which jobs begin a life on a day', () => {
  test('what holds since its first second, what waits, and nothing that is no job', async () => {
    const row = { day: '2026-03-02', source: 'slurm', attempt: 0, workload_kind: 'Job', ends_at: at('02 12:00') };
    const asked = { source: 'slurm', workload_kind: 'Job', submitted_at: at('02 07:00') };
    const rows = await stagesOn([begun], {
      holding: [
        { ...row, allocation_id: 'begins', held_from: at('02 09:00'), node_id: 'n1' },
        { ...row, allocation_id: 'begins', held_from: at('02 08:00'), node_id: 'n2' },
        { ...row, allocation_id: 'goes on', held_from: at('01 08:00'), node_id: 'n1' },
        { ...row, allocation_id: 'goes on', held_from: at('02 08:00'), node_id: 'n2' },
        { ...row, allocation_id: 'with midnight', held_from: at('02 00:00') },
        { ...row, allocation_id: 'a service', held_from: at('02 09:00'), workload_kind: 'Deployment' },
      ],
      waiting: [
        { ...asked, allocation_id: 'waits' },
        { ...asked, allocation_id: 'waits no more', waited_until: at('02 08:00') },
        { ...asked, allocation_id: 'a notebook', workload_kind: 'Notebook' },
      ],
    });
    expect(rows.map((each) => [each['allocation_id'], each['attempt'], String(each['begun_at']).slice(8, 16)])).toEqual(
      [
        ['begins', 0n, '02 08:00'],
        ['waits', null, '02 07:00'],
        ['with midnight', 0n, '02 00:00'],
      ],
    );
  });
});
