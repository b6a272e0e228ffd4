import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allocation, charge, device, node, organisation } from '../../test/oracle/rows.ts';
import { toFiles } from '../../test/oracle/to-files.ts';
import { nine, ten } from '../../test/oracle/told.ts';
import { recompute } from '../../test/outside/recompute.mjs';
import type { ComponentPrice } from '../facts/component-price.ts';
import { askerOf } from '../lake/ask.ts';
import { derive } from '../lake/derive.ts';
import { scopeOf } from '../lake/scope.ts';
import { stagesBy } from '../ledger/stages.ts';
import { explanationJson } from '../report/ledger-explain-json.ts';
import { explanationText } from '../report/ledger-explain-page.ts';
import type { Explanation } from '../report/explanation.ts';
import { parseFilters } from './filter.ts';
import { importFiles } from './import.ts';
import { checkLedger } from './ledger-check.ts';
import { explainLedger } from './ledger-explain.ts';
import { machineParts } from './machine-parts.ts';
import { ledgerWindow } from './window.ts';
import { withWriter } from './workspace.ts';
import { ruleViews } from './rules/views.ts';
import { NO_RULES } from './rules/rule.ts';
import type { ReadSpace } from './workspace.ts';

const made = { asOf: '2026-03-01', source: 'made up' };
const PRICES: readonly ComponentPrice[] = [
  { model: 'H100', usdPerGpuHour: '9', usdPerVcpuHour: '9', usdPerMemoryGibHour: '9', ...made },
  { model: 'H100 80GB', usdPerGpuHour: '4', usdPerVcpuHour: '0.05', usdPerMemoryGibHour: '0.01', ...made },
];

/** Two GPUs for $10.00 an hour, of which by the list $8.00 are theirs, $2.00 the processors' and $2.00 the memory's. */
const FLEET = organisation({
  nodes: [
    node({
      node_id: 'n1',
      present_from: nine,
      present_until: ten,
      provider: 'AWS',
      billing_account: '111',
      gpu_count: 2,
      vcpu: 40,
      memory_bytes: 200 * 2 ** 30,
    }),
    node({ node_id: 'n2', present_from: nine, present_until: ten, gpu_count: 1, model: 'H100', vcpu: 8 }),
  ],
  devices: ['g1', 'g2'].map((device_id) => device({ device_id, node_id: 'n1', model: 'NVIDIA H100 80GB HBM3' })),
  allocations: [allocation({ allocation_id: 'a', node_id: 'n1', device_id: 'g1', held_from: nine, held_until: ten })],
  charges: [
    charge({ charge_from: nine, charge_until: ten, effective: '10', resource_id: 'n1', sku_id: 's' }),
    charge({ charge_from: nine, charge_until: ten, effective: '3', resource_id: 'n1', service_category: 'Storage' }),
  ],
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-parts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The ledger by these prices and no others; a reader would bring it up to date with the built-in ones. */
async function withLedger<Result>(work: (space: ReadSpace) => Promise<Result>): Promise<Result> {
  const stages = stagesBy(PRICES);
  return withWriter(join(folder, 'data'), 'test', async (space) => {
    for (const [table, text] of Object.entries(toFiles(FLEET))) {
      const file = join(folder, `${table}.csv`);
      await writeFile(file, text);
      await importFiles({ ...space, table, files: [file] });
    }
    await derive({ ...space, stages });
    const snapshot = space.manifest.snapshot();
    return work({
      dataDir: space.dataDir,
      snapshot,
      scope: scopeOf(snapshot),
      staleRows: 0,
      sources: [],
      rules: NO_RULES,
      statements: { closings: () => [], statement: () => undefined },
      findings: { records: () => [], history: () => [] },
      ...askerOf(space.engine, space.dataDir, snapshot, stages, ruleViews(NO_RULES)),
    });
  });
}

const explain = (filter: string): Promise<Explanation> =>
  withLedger((space) =>
    explainLedger(space, {
      window: ledgerWindow('all', new Date('2026-03-03T00:00:00Z'), space.scope),
      filters: parseFilters(filter === '' ? [] : [filter]),
      entriesMax: 100,
      detailedMax: 100,
      detailRowsMax: 1000,
    }),
  );

describe('the parts of a machine', () => {
  test('are told with their list, by the name that says most', async () => {
    const asked = (nodeId: string) => withLedger((space) => machineParts(space, nodeId, new Date(nine * 1000), PRICES));
    expect(await asked('n1')).toEqual({
      nodeId: 'n1',
      model: 'NVIDIA H100 80GB HBM3',
      parts: [
        { part: 'gpu', quantity: 2n, usdNanosPerHour: 8_000_000_000n },
        { part: 'cpu', quantity: 40n, usdNanosPerHour: 2_000_000_000n },
        { part: 'memory', quantity: 204_800n, usdNanosPerHour: 2_000_000_000n },
      ],
      ...made,
    });
    // Its memory is unknown; and there is no such machine.
    expect(await asked('n2')).toBeUndefined();
    expect(await asked('n3')).toBeUndefined();
  });

  test('add up to what the machine costs, and every check holds', async () => {
    const { faults, differenceUsdMicros } = await withLedger(checkLedger);
    expect({ faults, differenceUsdMicros }).toEqual({ faults: [], differenceUsdMicros: 0n });
  });

  const cases: Record<string, { filter: string; want: string; says: string }> = {
    'a host is the rest of its GPU’s price': {
      filter: 'component=host',
      want: '3333334',
      says: 'host weighs $2.000000 of $6.000000 an hour → $1.666667',
    },
    'a GPU has what is left to it': {
      filter: 'component=gpu,job=a',
      want: '3333333',
      says: 'gpu weighs $4.000000 of $6.000000 an hour → $3.333333',
    },
    'a disk of the machine is of who held it': {
      filter: 'component=storage,job=a',
      want: '1500000',
      says: "slurm/a: 226800000 of 453600000 unit-seconds of the node's GPUs → $1.500000",
    },
    'and all of it is the bill': { filter: 'bill=AWS|111|2026-03', want: '13000000', says: '6 entries' },
  };
  test.each(Object.entries(cases))('%s', async (_, { filter, want, says }) => {
    const explanation = await explain(filter);
    const json: unknown = JSON.parse(
      JSON.stringify(explanationJson(explanation), (__, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    );
    expect(String(explanation.figure.usdMicros)).toBe(want);
    expect(String(recompute(json))).toBe(want);
    expect(explanationText(explanation, 100).join('\n')).toContain(says);
  });
});
