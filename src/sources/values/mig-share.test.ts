import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../lake/engine.ts';
import { openEngine } from '../../lake/engine.ts';
import { migShareSql } from './mig-profile.ts';
import { migShareUnits } from './mig-share.ts';

const PROFILES = ['1', '2', '3', '4', '5', '7'].flatMap((compute) =>
  ['5', '6', '10', '12', '18', '20', '24', '35', '40', '45', '47', '80'].flatMap((memory) =>
    ['', '+me', '.me', '-x'].map((ending) => `${compute}g.${memory}gb${ending}`),
  ),
);
const MODELS = ['NVIDIA H100 80GB HBM3', 'NVIDIA-A100-SXM4-40GB', 'NVIDIA A30', 'NVIDIA RTX PRO 6000 Blackwell', ''];

describe('the share of a MIG profile', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine({ threads: 1, memoryLimitMb: 200 });
  });
  afterAll(() => engine.close());

  it('is the same in both languages', async () => {
    const pairs = [...PROFILES, 'MIG 3g.40gb', 'odd', ''].flatMap((profile) => MODELS.map((model) => [profile, model]));
    const values = pairs.map(([profile, model], place) => `(${place}, '${profile}', '${model}')`);
    const rows = await engine.rows<{ units: bigint | null }>(
      `SELECT CAST(${migShareSql('profile', 'model')} AS BIGINT) AS units
       FROM (VALUES ${values.join(', ')}) AS v(place, profile, model) ORDER BY place`,
    );
    expect(rows.map(({ units }) => (units === null ? undefined : Number(units)))).toEqual(
      pairs.map(([profile = '', model]) => migShareUnits(profile, model)),
    );
  });

  it('is memory slots of eight', () => {
    expect(migShareUnits('1g.10gb', 'NVIDIA H100 80GB HBM3')).toBe(7875);
    expect(migShareUnits('3g.40gb')).toBe(31_500);
    expect(migShareUnits('odd')).toBeUndefined();
  });
});
