import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { rowsOf, WINDOW } from '../../test/told-nodes.ts';
import { unavailableNodes } from './unavailable-nodes.ts';

describe('unavailable-nodes', () => {
  it('says nothing of a drain of two days, nor of a spare', async () => {
    const drained = [{ held: [['01 00', '02 00', 4]], reason: 'drained' }] as const;
    expect(await claimsOn(unavailableNodes, rowsOf(drained), WINDOW)).toEqual([]);
    expect(await claimsOn(unavailableNodes, rowsOf([{ held: [], reason: 'spare' }]), WINDOW)).toEqual([]);
  });

  it('names what has been down for three days, with how to bring it back', async () => {
    const [claim] = await claimsOn(unavailableNodes, rowsOf([{ held: [], reason: 'down', purchase: 'owned' }]), WINDOW);
    expect(claim?.what).toBe('1 H100 node of a (owned) down for days');
    expect(claim?.fix).toEqual(['scontrol show node n1 | grep -i reason', 'scontrol update nodename=n1 state=resume']);
    expect(claim?.takes).toEqual([
      { subject: 'node n1', firstDay: '2026-03-01', lastDay: '2026-03-03', category: 'unallocated', reason: 'down' },
    ]);
  });
});
