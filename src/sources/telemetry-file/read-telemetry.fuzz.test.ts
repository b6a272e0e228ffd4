import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { readTelemetry } from './read-telemetry.ts';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 10_000);
vi.setConfig({ testTimeout: Math.max(60_000, numRuns * 10) });
const context = { stem: 'file', writtenAt: new Date('2026-11-16T10:00:00Z') };

const line = fc.oneof(
  fc.constantFrom(
    '# TYPE a gauge',
    'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n"} 97',
    'vllm:x_total 1',
    'up 1 now',
    '',
    '#'.repeat(30),
    '# $ nvidia-smi -q',
    '==============NVSMI LOG==============',
    'Timestamp : Mon Nov 16 10:00:00 2026',
    'GPU 00000000:00:09.0',
    '    GPU UUID : GPU-a',
    '    Utilization',
    '        GPU : 5 %',
    'GPU 0: NVIDIA H100 (UUID: GPU-a)',
    '$ nvidia-smi',
    '| NVIDIA-SMI 590 |',
    'timestamp, index, uuid, utilization.gpu [%]',
    '2026/11/16 10:00:00.1, 0, GPU-a, 5 %',
    '{',
    '}',
    '[',
    '"card0": {"GPU use (%)": "5"}',
    '<?xml version="1.0" ?>',
    '<nvidia_smi_log><gpu><uuid>G</uuid></gpu></nvidia_smi_log>',
    'DCGM_FI_DEV_SM_CLOCK, gauge, Clock',
    'normal*|up|c1|0/1/0/1|idle',
    '1234|job|COMPLETED|2026-11-16T10:00:00',
    'a,b,c',
    '1,2,3',
    '# gpu pwr',
    'me@box:~$ nvidia-smi',
    'Mon Nov 16 10:00:00 2026',
    'collected_at: 2026-11-16T08:00:00Z',
    '\r',
    '\u0000',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

it('whatever a file holds, every line of it is accounted for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 25 }), async (lines) => {
      const { total, parts, readings } = await readTelemetry(lines.join('\n'), context);
      expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(total);
      for (const { at, values } of readings) {
        expect(Number.isNaN(at.getTime())).toBe(false);
        for (const value of Object.values(values)) expect(Number.isInteger(value)).toBe(true);
      }
    }),
    { numRuns },
  );
});
