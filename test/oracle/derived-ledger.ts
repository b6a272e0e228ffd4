import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importFiles } from '../../src/app/import.ts';
import { withWriter } from '../../src/app/workspace.ts';
import type { WriteSpace } from '../../src/app/workspace.ts';
import type { ComponentPrice } from '../../src/facts/component-price.ts';
import { STAGES, stagesBy } from '../../src/ledger/stages.ts';
import { ask } from '../../src/lake/ask.ts';
import { derive } from '../../src/lake/derive.ts';
import type { Organisation } from './organisation.ts';
import { timeText } from './organisation.ts';
import type { Dice } from './random/dice.ts';
import { toFiles } from './to-files.ts';

/** One file of a command, and the name its batch is replaced by. */
interface Delivery {
  readonly table: string;
  readonly batch: string;
  readonly csv: string;
}

/**
 * The ledger of an organisation the way a user would get it: files imported in pieces, in some order, some of them more than
 * once, with the ledger derived in between. Rows come back as text, sorted, to be laid beside the oracle's.
 */
export async function derivedLedger(
  org: Organisation,
  dice: Dice,
  componentPrices: readonly ComponentPrice[] = [],
): Promise<{ entries: string[]; waterfall: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-oracle-'));
  const stages = stagesBy(componentPrices);
  try {
    return await withWriter(join(folder, 'data'), 'test', async (space) => {
      for (const delivery of schedule(org, dice)) {
        await deliver(space, folder, delivery, org);
        if (dice.chance(25)) await derive({ ...space, stages });
      }
      await derive({ ...space, stages });
      const { computed } = await derive({ ...space, stages });
      if (Object.keys(computed).length > 0)
        throw new Error(`derived twice, computed again: ${JSON.stringify(computed)}`);
      return { entries: await rowsOf(space, 'ledger_entry'), waterfall: await rowsOf(space, 'waterfall') };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function deliver(
  space: WriteSpace,
  folder: string,
  { table, batch, csv }: Delivery,
  org: Organisation,
): Promise<void> {
  const file = join(folder, `${batch}.csv`);
  await writeFile(file, csv);
  await importFiles({
    ...space,
    table,
    files: [file],
    batch,
    ...(table === 'charges' &&
      org.covered_until !== null && { coveredUntil: `${timeText(org.covered_until)}Z`.replace(' ', 'T') }),
  });
}

/** Every table in one to three batches, shuffled; a third of them once more; bills first in a longer version that is re-issued. */
function schedule(org: Organisation, dice: Dice): Delivery[] {
  const deliveries: Delivery[] = [];
  for (const [table, text] of Object.entries(toFiles(org))) {
    const [header = '', ...lines] = text.trimEnd().split('\n');
    if (lines.length === 0) continue;
    if (table === 'charges') {
      deliveries.push({ table, batch: 'bill', csv: text });
      continue;
    }
    const batches = dice.int(1, 3);
    const parts = Array.from({ length: batches }, () => [] as string[]);
    for (const line of lines) parts[dice.int(0, batches - 1)]?.push(line);
    for (const [index, part] of parts.entries()) {
      if (part.length > 0)
        deliveries.push({ table, batch: `${table}-${index}`, csv: `${[header, ...part].join('\n')}\n` });
    }
  }
  const shuffled = shuffle(deliveries, dice);
  const repeated = shuffled.filter(() => dice.chance(33));
  const reissued = shuffled.filter(({ table }) => table === 'charges').map((bill) => longerBill(bill));
  return [...reissued, ...shuffled, ...shuffle(repeated, dice)];
}

/** The first issue of a bill had every row twice. */
function longerBill(bill: Delivery): Delivery {
  const [header = '', ...lines] = bill.csv.trimEnd().split('\n');
  return { ...bill, csv: `${[header, ...lines, ...lines].join('\n')}\n` };
}

function shuffle<T>(items: readonly T[], dice: Dice): T[] {
  const left = [...items];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(dice.int(0, left.length - 1), 1));
  return order;
}

async function rowsOf(space: WriteSpace, table: 'ledger_entry' | 'waterfall'): Promise<string[]> {
  const rows = await ask<Record<string, unknown>>(space.engine, space.dataDir, space.manifest.snapshot(), STAGES, {
    tables: [{ table }],
    sql: `SELECT * FROM ${table}`,
  });
  return rows.map((row) => rowText(table, row)).toSorted();
}

/** The day is that of the hour; the subject is compared through what it is made of. */
const NOT_COMPARED = new Set(['day', 'subject']);

/** Every column both sides know, in one line. */
export function rowText(table: 'ledger_entry' | 'waterfall', row: Readonly<Record<string, unknown>>): string {
  const columns = STAGES.find(({ name }) => name === table)?.writes ?? [];
  return columns
    .map(([column]) => column)
    .filter((column) => !NOT_COMPARED.has(column))
    .map((column) => `${column}=${valueText(column, row[column])}`)
    .join(' ');
}

function valueText(column: string, value: unknown): string {
  switch (typeof value) {
    case 'number':
      return column === 'hour_start' ? timeText(value) : String(value);
    case 'string':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return '';
  }
}
