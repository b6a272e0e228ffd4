import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { printWorld } from '../../demo/world/print-world.ts';
import { PRESETS } from '../../demo/world/presets.ts';
import { demoScope, demoWorld } from './demo-request.ts';
import type { DemoOptions } from './demo-request.ts';

const DEFAULTS: DemoOptions = { gpus: '250', days: '30', step: '5m', until: '2026-11-01', seed: '1' };
const scope = (options: Partial<DemoOptions>) => demoScope({ ...DEFAULTS, ...options }, PRESETS.unmanaged);

describe('the numbers of the command line', () => {
  it('are a window of whole days in UTC that ends where it was told', () => {
    const until = Date.UTC(2026, 10, 1) / 1000;
    expect(scope({})).toEqual({ gpus: 250, seed: 1, stepS: 300, from: Date.UTC(2026, 9, 2) / 1000, until });
    expect(scope({ days: '1', until: '2028-03-01' }).from).toBe(Date.UTC(2028, 1, 29) / 1000);
    expect(scope({ days: '366', until: '2001-03-02' }).from).toBe(Date.UTC(2000, 2, 1) / 1000);
    expect(scope({ days: '1', until: '2000-03-02' }).from).toBe(Date.UTC(2000, 2, 1) / 1000);
    expect(scope({ until: '2099-12-01' }).until).toBe(Date.UTC(2099, 11, 1) / 1000);
  });

  it.each([
    ['10s', 10],
    ['30s', 30],
    ['1m', 60],
    ['90s', 90],
    ['1h', 3600],
    ['60m', 3600],
  ])('take %s between samples', (step, stepS) => expect(scope({ step }).stepS).toBe(stepS));

  it.each([
    [{ gpus: '1' }, { gpus: 1 }],
    [{ gpus: '200000' }, { gpus: 200_000 }],
    [{ seed: '0' }, { seed: 0 }],
    [{ seed: '4294967295' }, { seed: 4_294_967_295 }],
  ])('reach as far as %o', (options, want) => expect(scope(options)).toMatchObject(want));

  const refused: [Partial<DemoOptions>, string][] = [
    ...['0', '-5', '2.5', '1e9', '200001', '', ' 5', '0x10', 'many', '99999999999999999999'].map(
      (gpus): [Partial<DemoOptions>, string] => [{ gpus }, `--gpus ${gpus} is not a whole number from 1 to 200000`],
    ),
    [{ days: '0' }, '--days 0 is not a whole number from 1 to 366'],
    [{ days: '367' }, '--days 367 is not a whole number from 1 to 366'],
    [{ seed: '-1' }, '--seed -1 is not a whole number from 0 to 4294967295'],
    [{ seed: '4294967296' }, '--seed 4294967296 is not a whole number from 0 to 4294967295'],
    ...['7m', '0m', 'x', '5', '9s', '2h', '1d', '-5m', '5 m', '0.5h'].map((step): [Partial<DemoOptions>, string] => [
      { step },
      `--step ${step} is not a step between samples`,
    ]),
    ...[
      '2026-13-01',
      '2026-02-29',
      '2026-00-10',
      '2000-03-30',
      '2099-12-02',
      '2100-01-01',
      '26-11-01',
      'tomorrow',
      '',
    ].map((until): [Partial<DemoOptions>, string] => [
      { until },
      `--until ${until} is not a day from 2000-03-31 to 2099-12-01`,
    ]),
    [{ until: '2001-03-01', days: '366' }, '--until 2001-03-01 is not a day from 2001-03-02 to 2099-12-01'],
  ];
  it.each(refused)('refuse %o with a hint', (options, message) => {
    expect(() => scope(options)).toThrow(expect.objectContaining({ code: 'bad-option', message }));
  });

  it('refuse a fleet in which not one machine has room, before anything is made', () => {
    const [pool] = PRESETS.unmanaged.pools;
    const world = { ...PRESETS.unmanaged, pools: [{ ...pool!, share_percent: 100, gpus_per_node: 8 }] };
    expect(() => demoScope({ ...DEFAULTS, gpus: '7' }, world)).toThrow('a fleet of 7 has no machine');
    expect(demoScope({ ...DEFAULTS, gpus: '8' }, world).gpus).toBe(8);
  });
});

describe('a world', () => {
  it('is one that comes with Bursar, or a file', async () => {
    expect(await demoWorld('well-run')).toBe(PRESETS['well-run']);
    const folder = mkdtempSync(join(tmpdir(), 'bursar-world-'));
    const file = join(folder, 'unmanaged');
    writeFileSync(file, printWorld({ ...PRESETS.unmanaged, name: 'mine' }));
    expect((await demoWorld(file)).name).toBe('mine');
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['nosuch', 'there is no world nosuch, neither a file nor one of unmanaged, well-run'],
    ['unmanage', 'there is no world unmanage, neither a file nor one of unmanaged, well-run (nearest: unmanaged)'],
    ['toString', 'there is no world toString, neither a file nor one of unmanaged, well-run'],
    ['.', 'the world . is a folder, not a file'],
  ])('is not %s', async (name, message) => {
    await expect(demoWorld(name)).rejects.toMatchObject({ code: 'no-world', message });
  });
});
