import { perHour } from './flat-list.ts';
import type { FlatList, FlatPrice } from './flat-list.ts';

/** Google's price lists have months of 730 hours. */
const HOURS_PER_MONTH = 730n;

/** Words of the list for accelerators, where they are not the name. */
const ACCELERATOR_WORDS: Readonly<Record<string, string>> = {
  rtx6000: 'RTX-PRO-6000',
  'h100-80gb': 'H100',
  'h100-80gb-mega': 'H100-MEGA',
};

/** Keys of a machine that are no accelerator. */
const MACHINE_KEYS = new Set(['cost', 'cpu', 'ram', 'local-ssd', 'type', 'bandwidth', 'series', 'family']);

interface Machine {
  readonly name: string;
  cpu?: string;
  ram?: string;
  accelerator?: string;
  accelerators?: string;
  readonly regions: Map<string, Map<string, string>>;
}

/** Whether the first lines are those of google-cloud-pricing-cost-calculator. */
export function isGcpCalculator(head: string): boolean {
  return /^compute:\s*$/m.test(head) && /^\s+instance:\s*$/m.test(head);
}

/**
 * Reads the price list of google-cloud-pricing-cost-calculator (YAML): machines with their accelerators, by region, on demand,
 * spot and committed. Line by line, because the list is regular, large, and every value is plain.
 */
export function readGcpCalculator(text: string): FlatList {
  const sections = new Set<string>();
  const machines: Machine[] = [];
  let path: string[] = [];
  let seconds: number | undefined;
  for (const line of text.split('\n')) {
    const match = /^( *)([\w.-]+):(?:\s+(.*?))?\s*$/.exec(line);
    const [, indent = '', key = '', value] = match ?? [];
    if (match === null || indent.length % 2 === 1) continue;
    path = [...path.slice(0, indent.length / 2), key];
    if (path.length === 1 && key !== 'about' && key !== 'compute') sections.add(key);
    if (path.length === 2 && path[0] === 'compute' && key !== 'instance') sections.add(`compute ${key}`);
    if (path[0] === 'about' && key === 'timestamp' && /^\d{9,10}$/.test(value ?? '')) seconds = Number(value);
    if (path[0] === 'compute' && path[1] === 'instance') readInstanceLine(machines, path, value);
  }
  return {
    shape: 'GCP price list',
    provider: 'gcp',
    ...(seconds !== undefined && { asOf: new Date(seconds * 1000) }),
    rows: machines.flatMap(rowsOf),
    notes: sections.size === 0 ? [] : [`not prices of machines, not read: ${[...sections].join(', ')}`],
  };
}

function readInstanceLine(machines: Machine[], path: readonly string[], value: string | undefined): void {
  const [, , name = '', key, region, price] = path;
  if (path.length === 3) machines.push({ name, regions: new Map() });
  const machine = machines.at(-1);
  if (machine === undefined || machine.name !== name || key === undefined) return;
  if (path.length === 4 && value !== undefined) {
    if (key === 'cpu') machine.cpu = value;
    else if (key === 'ram') machine.ram = value;
    else if (!MACHINE_KEYS.has(key))
      [machine.accelerator, machine.accelerators] = [ACCELERATOR_WORDS[key] ?? key, value];
  }
  if (key !== 'cost' || region === undefined) return;
  const prices = machine.regions.get(region) ?? new Map<string, string>();
  machine.regions.set(region, prices);
  if (price !== undefined && value !== undefined) prices.set(price, value);
}

/** Accelerators are attached to N1 machines apart, and are not in their price; every other family has its own inside. */
function rowsOf({ name, cpu, ram, accelerator, accelerators, regions }: Machine): FlatPrice[] {
  const machine = {
    instance_type: name,
    covers: name.startsWith('n1-') ? 'host' : 'instance',
    ...(cpu !== undefined && { vcpu: cpu }),
    ...(ram !== undefined && { memory_gib: ram }),
    ...(accelerator !== undefined && { accelerator }),
    ...(accelerators !== undefined && { accelerator_count: accelerators }),
  };
  return [...regions].map(([region, prices]) => {
    const [hour, spot] = [prices.get('hour'), prices.get('hour_spot')];
    const [year, years] = [byHour(prices.get('month_1y')), byHour(prices.get('month_3y'))];
    return {
      ...machine,
      region,
      ...(hour !== undefined && { price: hour }),
      ...(spot !== undefined && { spot }),
      ...(year !== undefined && { committed_1y: year }),
      ...(years !== undefined && { committed_3y: years }),
    };
  });
}

/** What is no number is handed on, to be told. */
function byHour(month: string | undefined): string | undefined {
  return month === undefined ? undefined : (perHour(month, HOURS_PER_MONTH) ?? month);
}
