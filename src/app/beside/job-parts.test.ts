import { afterAll, beforeAll, expect, test } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { FITTED_COMPONENTS } from '../../facts/component-price.ts';
import { jobPage } from '../../report/job-page.ts';
import { job } from '../job.ts';
import { withReader } from '../workspace.ts';

/** Node a1 has 48 vCPUs and 512 GiB beside its two H100, and sends data for 40 cents between 08:00 and 09:00. */
const HOST = { vcpu: 48, memoryGib: 512 };
const EGRESS =
  'AWS,111,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,Usage,USD,0.40,0.40,0.40,Networking,Data transfer out,EGRESS,us-east-1,i-a1,Standard,,\n';

let fleet: FleetFolder;
beforeAll(async () => {
  const [head = '', ...rest] = (SMALL_FLEET['nodes'] ?? '').trim().split('\n');
  const sized = rest.map(
    (line) => `${line},${/^a[12],/.test(line) ? `${HOST.vcpu},${HOST.memoryGib * 2 ** 30}` : ','}`,
  );
  fleet = await fleetFolder({
    ...SMALL_FLEET,
    nodes: `${[`${head},vcpu,memory_bytes`, ...sized].join('\n')}\n`,
    charges: `${SMALL_FLEET['charges']}${EGRESS}`,
  });
});
afterAll(() => fleet.remove());

test('a job’s GPU, host and egress stand apart and add up: 101 has half of a1’s transfer, and its $3.25 in two parts', async () => {
  const answer = await withReader(fleet.dataDir, (space) => job(space, { id: '101', clock: new Date('2026-11-01') }));
  const parts = new Map(answer.beside.parts.map(({ part, usdMicros }) => [part, usdMicros ?? 0n]));
  expect([...parts.keys()]).toEqual(['gpu', 'host', 'transfer']);
  expect(parts.get('transfer')).toBe(200_000n);
  expect((parts.get('gpu') ?? 0n) + (parts.get('host') ?? 0n)).toBe(3_250_000n);
  const price = FITTED_COMPONENTS.find(({ model }) => model === 'H100');
  const gpu = 2 * Number(price?.usdPerGpuHour);
  const host = HOST.vcpu * Number(price?.usdPerVcpuHour) + HOST.memoryGib * Number(price?.usdPerMemoryGibHour);
  expect(Number(parts.get('gpu')) / 3_250_000).toBeCloseTo(gpu / (gpu + host), 5);
  expect(jobPage(answer).join('\n')).toMatch(/GPU \$2\.\d\d, host \$0\.\d\d, egress \$0\.20/);
});
