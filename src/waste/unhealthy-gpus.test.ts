import { expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldGpu, type ToldHolder } from '../../test/holder-rows.ts';
import { unhealthyGpus } from './unhealthy-gpus.ts';

const DAY = ['03-03 00:00', '03-04 00:00'] as const;
const xid = (code: number, node: string): ToldGpu => ({ computing: [DAY], node, more: { xid: code } });
const job = (gpus: Readonly<Record<string, ToldGpu>>): ToldHolder => ({
  source: 'slurm',
  from: '03-03 00:00',
  until: '03-04 00:00',
  isOpen: true,
  gpus,
});
const fixOf = async (gpus: Readonly<Record<string, ToldGpu>>): Promise<string> =>
  (await claimsOn(unhealthyGpus, holderRows([job(gpus)])))[0]?.fix.join('\n') ?? '';

it.each([48, 62, 64, 74, 79, 95, 119, 120, 140])('a node of which a GPU reports XID %i is drained', async (code) => {
  const fix = await fixOf({ g0: xid(code, 'n0') });
  expect(fix).toContain('scontrol update nodename=n0 state=drain');
  expect(fix).not.toContain('--gpu-reset');
});

it.each([63, 92, 94])('XID %i was dealt with by the GPU: no node is drained, a reset is due', async (code) => {
  const [claim] = await claimsOn(unhealthyGpus, holderRows([job({ g0: xid(code, 'n0') })]));
  expect(claim?.fix.join('\n')).not.toMatch(/drain reason|cordon/);
  expect(claim?.fix).toContain('nvidia-smi --gpu-reset');
  expect([claim?.what, claim?.blastRadius]).toEqual(['1 GPU of a reported errors of memory; a reset is due', 1]);
  expect(claim?.because[2]).toBe('No attempt that held them on such a day ended badly.');
});

it('of two nodes only the ill one is drained; one with both is', async () => {
  const fix = await fixOf({ g0: xid(63, 'n0'), g1: xid(79, 'n1'), g2: xid(63, 'n1') });
  expect(fix).toContain('nodename=n1 state=drain');
  expect(fix).not.toContain('nodename=n0');
  expect(fix).toContain('# on n0, when no job holds it');
});
