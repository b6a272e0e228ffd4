import { chanceOf } from '../chance.ts';
import { gpusOf, type Period } from './period.ts';
import type { Node, OrganisationDay } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Bill, BillRow } from './bill.ts';
import { postUnlisted, postBeside } from './beside-charges.ts';
import { type Used, postUnused } from './commitment.ts';
import { gpuTimeMicros } from './currency.ts';
import { type Correction, type Month, type Page, post } from './page.ts';
import { type Tariff, commitmentIdOf, tariffsOf } from './tariff.ts';

const DAY_S = 86_400;
const HOUR_S = 3600;

/** Which rows of a month are charged twice at first. */
export function correctionsOf(seed: number, { provider, month, from, until }: Bill): Correction[] {
  const chance = chanceOf(seed, 'correction', provider.name, provider.account, month);
  const [days, periods] = [(until - from) / DAY_S, DAY_S / periodSecondsOf(provider.bills_by)];
  return Array.from({ length: provider.corrected_hours }, () => ({
    day: from + chance.whole(days) * DAY_S,
    index: chance.whole(periods),
    place: chance.fraction(),
  }));
}

/** Everything a provider charges for by the hour or the day. */
export function postUsage(
  page: Page,
  month: Month,
  day: OrganisationDay,
  committedGpus: ReadonlyMap<string, number>,
): void {
  const { provider } = month.bill;
  const nodes = day.nodes.filter(({ pool }) => pool.provider === provider.name);
  const tariffs = tariffsOf(day, provider);
  const periodS = periodSecondsOf(provider.bills_by);
  let dayMicros = 0;
  for (let index = 0; index * periodS < DAY_S; index += 1) {
    const from = day.from + index * periodS;
    const period: Period = { day, index, from, until: from + periodS, tariffs };
    const used = new Map<string, Used>();
    const rows = postMachines(page, month, nodes, period, used);
    postCorrections(page, month, rows, period);
    postUnused(page, month, period, committedGpus, used);
    const periodMicros = rows.reduce((sum, row) => sum + row.effectiveMicros, 0);
    dayMicros += periodMicros;
  }
  month.machinesMicros += dayMicros;
  postUnlisted(page, month, day, dayMicros);
  postBeside(page, month, day, dayMicros);
}

/** A row for each machine that is there, whatever state it is in: a broken one is paid for as well. */
function postMachines(
  page: Page,
  month: Month,
  nodes: readonly Node[],
  { index, from, until, tariffs }: Period,
  used: Map<string, Used>,
): BillRow[] {
  const rows: BillRow[] = [];
  for (const node of nodes) {
    const [start, end] = [Math.max(from, node.presentFrom), Math.min(until, node.presentUntil)];
    const tariff = tariffs.get(node.pool.name);
    if (start >= end || tariff === undefined) continue;
    const row = machineRow(month, node, tariff, start, end);
    rows.push(row);
    const { usdMicros } = post(page, month, row);
    let cost = page.costs.get(node);
    if (cost === undefined) page.costs.set(node, (cost = { periodS: until - from, usdMicros: [] }));
    cost.usdMicros[index] = usdMicros;
    if (node.pool.purchase !== 'committed') continue;
    const before = used.get(node.pool.name) ?? { gpuSeconds: 0, micros: 0 };
    used.set(node.pool.name, {
      gpuSeconds: before.gpuSeconds + gpusOf(node) * (end - start),
      micros: before.micros + row.effectiveMicros,
    });
  }
  return rows;
}

/** Written out cell by cell: there are millions of these, and copying objects would take most of the time. */
function machineRow({ bill }: Month, node: Node, tariff: Tariff, from: Seconds, until: Seconds): BillRow {
  const [gpus, seconds, { cells }] = [gpusOf(node), until - from, tariff];
  const effectiveMicros = gpuTimeMicros(bill.currency, gpus, tariff.priceMicros, seconds);
  const listMicros = gpuTimeMicros(bill.currency, gpus, tariff.listMicros, seconds);
  const isCommitted = node.pool.purchase === 'committed';
  return {
    from,
    until,
    category: cells.category,
    frequency: cells.frequency,
    description: cells.description,
    pricing: cells.pricing,
    // What a commitment covers was paid with its fee.
    billedMicros: isCommitted ? 0 : effectiveMicros,
    effectiveMicros,
    listMicros,
    contractedMicros: isCommitted ? listMicros : effectiveMicros,
    serviceCategory: cells.serviceCategory,
    serviceName: cells.serviceName,
    sku: cells.sku,
    region: cells.region,
    resourceId: node.resourceId === '' ? node.id : node.resourceId,
    resourceType: cells.resourceType,
    commitmentId: isCommitted ? commitmentIdOf(node.pool) : undefined,
    commitmentStatus: isCommitted ? 'Used' : undefined,
    quantityMicros: Math.round((seconds * 1_000_000) / HOUR_S),
    unit: 'Hours',
    tags: tariff.tags,
  };
}

/** A row once more, and the row that takes one of the two back. */
function postCorrections(page: Page, month: Month, rows: readonly BillRow[], { day, index }: Period): void {
  for (const correction of month.corrections) {
    const row = rows[Math.floor(correction.place * rows.length)];
    if (row === undefined || correction.day !== day.from || correction.index !== index) continue;
    post(page, month, row);
    post(page, month, {
      ...row,
      class: 'Correction',
      billedMicros: -row.billedMicros,
      effectiveMicros: -row.effectiveMicros,
      listMicros: -row.listMicros,
      contractedMicros: -row.contractedMicros,
      quantityMicros: -(row.quantityMicros ?? 0),
    });
  }
}

function periodSecondsOf(billsBy: 'hour' | 'day'): number {
  return billsBy === 'hour' ? HOUR_S : DAY_S;
}
