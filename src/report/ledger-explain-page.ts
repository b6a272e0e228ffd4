import { formatUsdMicros } from '../money/usd.ts';
import type { EntryValue, ExplainedCharge, ExplainedEntry, Explanation, MachineParts } from './explanation.ts';
import { counted, gpuHours, minute } from './figures.ts';
import { sharedLines } from './rules-page.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';
import { unknownValueLines } from './unknown-value.ts';

/** Of each kind of row so many are printed; JSON has them all. */
const LINES_MAX = 4;
const UNITS_PER_GPU = 63_000n;
const NANOS_PER_MICRO = 1000n;
const MEBIBYTES_PER_GIB = 1024n;
const BESIDE_NODES = new Set(['storage', 'transfer', 'network']);

/** The figure first, then the entries it is made of, then the whole way of the largest. */
export function explanationText(explanation: Explanation, detailedMax: number): string[] {
  const { figure, window, filter, entries, parts } = explanation;
  const scope = `${minute(window.from)} to ${minute(window.until)} UTC${filter === '' ? '' : `, only ${safeText(filter)}`}`;
  const unpriced = figure.unpricedUnits === 0n ? '' : `; ${gpuHours(figure.unpricedUnits)} of them without a price`;
  const first = `${amount(figure.usdMicros)} for ${gpuHours(figure.units)}${unpriced}: ${scope}`;
  const shared = sharedBlock(explanation);
  if (entries.length === 0) {
    return [first, 'no entries in it', ...unknownValueLines(explanation.unknownValues), ...shared];
  }
  const rows = parts.reduce((sum, part) => sum + part.rows, 0n);
  const listed = explanation.truncated.includes('entries')
    ? `the largest ${counted(entries.length, 'entry', 'entries')}; ${counted(rows, 'row')} in all (--limit or --json for more)`
    : counted(entries.length, 'entry', 'entries');
  return [
    first,
    '',
    ...textTable(
      [{ align: 'left' }, { align: 'left' }, { align: 'right' }, { align: 'right' }],
      parts.map((part) => [`  ${part.category}`, part.basis, amount(part.usdMicros), gpuHours(part.units)]),
    ),
    ...(figure.marginalUsdMicros === null || figure.marginalUsdMicros === figure.usdMicros
      ? []
      : [`  at marginal prices ${amount(figure.marginalUsdMicros)}: its part of what the bills would fall by`]),
    ...shared,
    '',
    listed,
    ...textTable(
      [
        { align: 'left', title: '' },
        { align: 'left', title: 'hour' },
        { align: 'left', title: 'of' },
        { align: 'left', title: 'whose' },
        { align: 'left', title: 'basis' },
        { align: 'right', title: 'entry' },
        { align: 'right', title: 'counted' },
      ],
      entries.map((entry, place) => [
        `${place + 1}.`,
        column(entry, 'hourStart').slice(0, 16),
        thingOf(entry),
        whoseOf(entry),
        column(entry, 'billId') || column(entry, 'basis'),
        amount(micros(entry, 'usdMicros')),
        amount(entry.countedUsdMicros),
      ]),
    ),
    ...entries.slice(0, detailedMax).flatMap((entry, place) => ['', ...wayOf(explanation, entry, place)]),
  ];
}

/** Shared money has its entries with the pool: a team's part of it is a sum of days, each by the key of the day. */
function sharedBlock({ shared, figure }: Explanation): string[] {
  if (shared.length === 0) return [];
  const part = shared.reduce((sum, { usdMicros }) => sum + usdMicros, 0n);
  const whole = amount((figure.usdMicros ?? 0n) + part);
  return [
    '',
    `and ${amount(part)} of shared money, ${whole} with it; its entries are with the pools:`,
    ...shared.flatMap((each) => sharedLines(each, amount)).map((line) => `  ${line}`),
  ];
}

function wayOf(explanation: Explanation, entry: ExplainedEntry, place: number): string[] {
  const steps = [
    ...chargeSteps(explanation, entry),
    ...deviceSteps(explanation, entry),
    ...partSteps(explanation, entry),
    ...holderSteps(explanation, entry),
    ...activitySteps(explanation, entry),
    ...marginalSteps(entry),
    ['owner', ownerOf(entry)],
  ];
  const head = `${place + 1}. ${amount(micros(entry, 'usdMicros'))}  ${thingOf(entry)}, ${column(entry, 'hourStart').slice(0, 16)}, ${whoseOf(entry)}`;
  return [
    head,
    ...textTable(
      [{ align: 'left' }, { align: 'left' }],
      steps.map(([name = '', words = '']) => [`   ${name}`, words]),
    ),
  ];
}

/** From the rows of the bill to what the node, or the resource, costs in the hour. */
function chargeSteps(explanation: Explanation, entry: ExplainedEntry): string[][] {
  const billId = column(entry, 'billId');
  const hour = column(entry, 'hourStart');
  const nodeId = column(entry, 'nodeId');
  if (billId === '') return [];
  if (column(entry, 'disposition') === 'rounding') {
    return [
      ['rounding', `what the exact total of ${safeText(billId)} leaves after its days were rounded to whole micros`],
    ];
  }
  const pools = explanation.pools.filter(
    (pool) =>
      !isBesideNode(entry) &&
      pool.billId === billId &&
      pool.hour === hour &&
      pool.nodes.some((node) => node.nodeId === nodeId),
  );
  const names = new Set(pools.map(({ pool }) => pool));
  const charges = explanation.charges.filter(
    (charge) =>
      charge.billId === billId &&
      charge.hours.some((part) => part.hour === hour) &&
      (nodeId === '' || isBesideNode(entry)
        ? charge.pool === null &&
          charge.kind === kindOf(entry) &&
          (nodeId === '' ? (charge.resourceId ?? '') === column(entry, 'resourceId') : charge.nodeId === nodeId)
        : names.has(charge.pool ?? '')),
  );
  return [
    ...charges.slice(0, LINES_MAX).map((charge, index) => [index === 0 ? 'bill' : '', chargeText(charge, hour)]),
    ...(charges.length > LINES_MAX ? [['', `and ${counted(charges.length - LINES_MAX, 'row')} more`]] : []),
    ...pools.map((pool, index) => {
      const node = pool.nodes.find((candidate) => candidate.nodeId === nodeId);
      const words =
        pool.nodes.length === 1
          ? `${safeText(pool.pool)}: ${amount(pool.usdMicros)}, all for ${safeText(nodeId)}`
          : `${safeText(pool.pool)}: ${amount(pool.usdMicros)} over ${counted(pool.nodes.length, 'node')} by seconds there; ` +
            `${safeText(nodeId)} ${node?.weight ?? 0n} of ${node?.total ?? 0n} → ${amount(node?.usdMicros ?? null)}`;
      return [index === 0 ? 'pool' : '', words];
    }),
  ];
}

function chargeText(charge: ExplainedCharge, hour: string): string {
  const part = charge.hours.find((candidate) => candidate.hour === hour);
  const foreign = charge.currency === 'USD' ? '' : ` = ${trimmed(charge.usd)} USD`;
  const rest =
    part === undefined || part.total === part.weight
      ? ', all in this hour'
      : `, in this hour ${amount(part.usdMicros)} (${part.weight} of ${part.total} s)`;
  const what = charge.description ?? charge.resourceId ?? charge.chargeCategory;
  return (
    `${safeText(charge.billId)} part ${charge.part} row ${charge.ordinal}, ${safeText(what)}: ` +
    `effective ${trimmed(charge.effective)} ${charge.currency}${foreign} → ${amount(charge.usdMicros)}${rest}`
  );
}

/** From the node to the device, or from a price to it. */
function deviceSteps(explanation: Explanation, entry: ExplainedEntry): string[][] {
  const root = column(entry, 'rootDeviceId');
  const hour = column(entry, 'hourStart');
  if (root === '') {
    const price = amount(micros(entry, 'splitOfUsdMicros'));
    if (column(entry, 'billId') !== '') return [];
    return [['price', `the rate of ${safeText(column(entry, 'nodeId'))} for the seconds it was absent → ${price}`]];
  }
  const device = explanation.deviceHours.find((each) => each.rootDeviceId === root && each.hour === hour);
  if (device === undefined) return [];
  // What is divided into parts has its own amount only after the next step.
  const price = device.hostWeight === null ? ` → ${amount(micros(entry, 'splitOfUsdMicros'))}` : '';
  const there = `${safeText(root)} there for ${device.presentSeconds} s`;
  if (column(entry, 'billId') !== '') {
    const siblings = explanation.deviceHours.filter((each) => each.nodeId === device.nodeId && each.hour === hour);
    const total = siblings.reduce((sum, each) => sum + each.presentSeconds, 0n);
    const node = explanation.chargeHours.find(
      (line) => line.billId === column(entry, 'billId') && line.hour === hour && line.nodeId === device.nodeId,
    );
    const of = `${safeText(device.nodeId ?? '')}: ${amount(node?.usdMicros ?? null)}`;
    return [
      ['device', `${of} over ${counted(siblings.length, 'device')} by seconds there; ${there} of ${total}${price}`],
    ];
  }
  if (column(entry, 'basis') === 'unpriced') {
    const why =
      device.usdNanosPerHour === null
        ? `no bill, no rate and no list price for ${safeText(device.model ?? 'an unknown model')}`
        : 'a bill covers this hour and does not charge it';
    return [['price', `none: ${why}`]];
  }
  const by = device.pricedBy === 'rate' ? 'your rate' : device.pricedBy === 'catalog' ? 'catalog price' : 'list price';
  const perHour = amount((device.usdNanosPerHour ?? 0n) / NANOS_PER_MICRO);
  return [['price', `${by} ${perHour} an hour, ${there}${price}`]];
}

/** From the machine to its parts, where its price is divided. */
function partSteps({ deviceHours, machines }: Explanation, entry: ExplainedEntry): string[][] {
  const root = column(entry, 'rootDeviceId');
  const hour = column(entry, 'hourStart');
  const device = deviceHours.find((each) => each.rootDeviceId === root && each.hour === hour);
  if (device?.hostWeight == null || device.gpuWeight === null || column(entry, 'basis') === 'unpriced') return [];
  const { gpuWeight, hostWeight, nodeId } = device;
  const own = column(entry, 'component') === 'host' ? hostWeight : gpuWeight;
  const words =
    `${column(entry, 'component')} weighs ${amount(own / NANOS_PER_MICRO)} of ` +
    `${amount((gpuWeight + hostWeight) / NANOS_PER_MICRO)} an hour → ${amount(micros(entry, 'splitOfUsdMicros'))}`;
  const machine = machines.find((each) => each.nodeId === nodeId);
  return [['part', words], ...(machine === undefined ? [] : [['', machineText(machine)]])];
}

function machineText({ nodeId, model, parts, asOf, source }: MachineParts): string {
  const units = { gpu: safeText(model), cpu: 'vCPU', memory: 'GiB' } as const;
  const told = parts.map(({ part, quantity, usdNanosPerHour }) => {
    const count = part === 'memory' ? quantity / MEBIBYTES_PER_GIB : quantity;
    return `${count} ${units[part]} ${amount(usdNanosPerHour / NANOS_PER_MICRO)}`;
  });
  return `${safeText(nodeId)} is listed as ${told.join(', ')} an hour: ${safeText(source)}, ${asOf}`;
}

const UNSAID_MARGINAL =
  'not known: nobody says how the machine is bought, and no provider of it is known (purchase in bursar import nodes)';

/** Its part of what the bill would fall by: the price of advice, not of statements. */
function marginalSteps(entry: ExplainedEntry): string[][] {
  const [price, marginal] = [micros(entry, 'usdMicros'), micros(entry, 'marginalUsdMicros')];
  if (price !== null && marginal === null) return [['marginal', UNSAID_MARGINAL]];
  if (marginal === null) return [];
  const words = marginal === price ? 'the same' : amount(marginal);
  return [['marginal', `${words}: its part of what the bill would fall by`]];
}

/** Storage and traffic of a machine, beside its GPUs. */
function isBesideNode(entry: ExplainedEntry): boolean {
  return column(entry, 'disposition') === 'beside' && BESIDE_NODES.has(column(entry, 'component'));
}

/** From the device to its holder. */
function holderSteps(explanation: Explanation, entry: ExplainedEntry): string[][] {
  const root = column(entry, 'rootDeviceId');
  if (root === '') {
    if (!isBesideNode(entry) || column(entry, 'splitTotal') === '1') return [];
    const held = `${column(entry, 'splitWeight')} of ${column(entry, 'splitTotal')} unit-seconds of the node's GPUs`;
    return [['holder', `${whoseOf(entry)}: ${held} → ${amount(micros(entry, 'usdMicros'))}`]];
  }
  const pieces = explanation.held.filter(
    (piece) =>
      piece.deviceId === column(entry, 'deviceId') &&
      piece.from.slice(0, 13) === column(entry, 'hourStart').slice(0, 13) &&
      (piece.allocationId ?? '') === column(entry, 'allocationId') &&
      (piece.source ?? '') === column(entry, 'source') &&
      piece.disposition === column(entry, 'disposition'),
  );
  const spans = pieces
    .slice(0, LINES_MAX)
    .map(({ from, until, shareUnits }) => `${clockSpan(from, until)} × ${shareText(shareUnits)}`);
  const more = pieces.length > LINES_MAX ? ', …' : '';
  const weight = `${column(entry, 'splitWeight')} of ${column(entry, 'splitTotal')} unit-seconds`;
  const shared = entry.columns['conflict'] === true ? '; held by more than one at once' : '';
  const pooled = pieces.some((piece) => piece.pooled) ? '; held by count, on which of them is not known' : '';
  return [
    [
      'holder',
      `${whoseOf(entry)} ${spans.join(', ')}${more}: ${weight} → ${amount(micros(entry, 'usdMicros'))}${shared}${pooled}`,
    ],
  ];
}

/** Times of one hour on the clock; what ends with its day ends at 24:00. */
function clockSpan(from: string, until: string): string {
  const end = until.slice(11, 16);
  return `${from.slice(11, 16)}–${end === '00:00' ? '24:00' : end}`;
}

/** From the holder to what the device did. */
function activitySteps(explanation: Explanation, entry: ExplainedEntry): string[][] {
  const isHeld = column(entry, 'disposition') === 'held';
  const parts = entry.categories.map(
    ({ category, reason, usdMicros, units }) =>
      `${category}${isHeld && reason !== null ? ` (${reason})` : ''} ${amount(usdMicros)} (${units / UNITS_PER_GPU} s)`,
  );
  const steps = [['category', parts.join(', ')]];
  if (!isHeld) return steps;
  const [hour, device] = [column(entry, 'hourStart'), column(entry, 'deviceId')];
  const end = new Date(new Date(`${hour.replace(' ', 'T')}Z`).getTime() + 3_600_000).toISOString().slice(0, 19);
  const until = end.replace('T', ' ');
  const runs = explanation.runs.filter((run) => run.deviceId === device && run.from < until && run.until > hour);
  const samples = explanation.samples.filter(
    (sample) => sample.deviceId === device && sample.ts < until && sample.ts >= hour,
  );
  const told = runs
    .slice(0, LINES_MAX)
    .map(
      (run) =>
        `${clockSpan(run.from < hour ? hour : run.from, run.until > until ? until : run.until)} ${run.class} by ${run.signal}`,
    );
  steps.push([
    'runs',
    runs.length === 0 ? 'none: nobody measured it' : `${told.join(', ')}${runs.length > LINES_MAX ? ', …' : ''}`,
  ]);
  const [first, last] = [samples[0], samples.at(-1)];
  if (first !== undefined && last !== undefined) {
    steps.push([
      'samples',
      `${counted(samples.length, 'sample')}, first ${sampleText(first)}; last ${sampleText(last)}`,
    ]);
  }
  return steps;
}

function sampleText(sample: Explanation['samples'][number]): string {
  const values = [
    ...(sample.enginePermille === null ? [] : [`engine ${sample.enginePermille} ‰`]),
    ...(sample.smPermille === null ? [] : [`sm ${sample.smPermille} ‰`]),
    ...(sample.utilPermille === null ? [] : [`util ${sample.utilPermille} ‰`]),
    ...(sample.powerW === null ? [] : [`${sample.powerW} W`]),
  ];
  return `${sample.ts.slice(11)} ${values.join(', ')}`;
}

function ownerOf(entry: ExplainedEntry): string {
  const names = [
    ['team', entry.team],
    ['project', entry.project],
    ['user', entry.user],
    ['environment', entry.environment],
    ['class', entry.class],
  ].flatMap(([name = '', value]) => (value === null || value === undefined ? [] : [`${name} ${safeText(value)}`]));
  const rule = entry.rule === null || entry.rule === 'none' ? '' : `, team by ${entry.rule}`;
  return names.length === 0 ? 'unattributed' : `${names.join(', ')}${rule}`;
}

function thingOf(entry: ExplainedEntry): string {
  const [device, node, resource] = [column(entry, 'deviceId'), column(entry, 'nodeId'), column(entry, 'resourceId')];
  const kind = `${column(entry, 'component')} ${column(entry, 'disposition')}`;
  const part = column(entry, 'component') === 'host' ? ', host' : '';
  if (device !== '') return safeText(node === '' ? device : `${device} on ${node}${part}`);
  if (node !== '') return safeText(isBesideNode(entry) ? `${node}, ${column(entry, 'component')}` : node);
  return safeText(resource || kind);
}

function whoseOf(entry: ExplainedEntry): string {
  const job = column(entry, 'allocationId');
  if (job !== '')
    return safeText(`${column(entry, 'source')}/${job}${entry.workloadName === null ? '' : ` ${entry.workloadName}`}`);
  const reason = column(entry, 'reason');
  const disposition = column(entry, 'disposition');
  if (disposition === 'held') return 'held, nobody says by whom';
  return reason === '' ? disposition : `${disposition}, ${reason}`;
}

/** The kind of charge an entry of a bill comes from. */
function kindOf(entry: ExplainedEntry): string {
  const disposition = column(entry, 'disposition');
  if (column(entry, 'reason') === 'unused-commitment') return 'unused';
  return disposition === 'beside' ? column(entry, 'component') : disposition;
}

function column(entry: ExplainedEntry, name: string): string {
  const value: EntryValue | undefined = entry.columns[name];
  return value === null || value === undefined ? '' : String(value);
}

function micros(entry: ExplainedEntry, name: string): bigint | null {
  const value = entry.columns[name];
  return typeof value === 'bigint' ? value : null;
}

function amount(usdMicros: bigint | null): string {
  return usdMicros === null ? 'no price' : formatUsdMicros(usdMicros);
}

function shareText(units: bigint): string {
  return units === UNITS_PER_GPU ? 'a whole GPU' : `${units}/${UNITS_PER_GPU} GPU`;
}

function trimmed(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
