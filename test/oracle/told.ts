import type { ListPrice, Organisation } from './organisation.ts';
import { timeText } from './organisation.ts';
import { oracle } from './oracle.ts';
import { at, device, node, organisation } from './rows.ts';
import type { OracleEntry } from './rules/entry.ts';

/** `09 g1 held job1 1800 s, 5 µ$`: hour, subject, what became of it, GPU-seconds, money. */
function told(entry: OracleEntry): string {
  const hour = timeText(entry.hour_start).slice(11, 13);
  const subject = entry.device_id ?? entry.node_id ?? entry.resource_id ?? '-';
  const what = entry.reason === null ? entry.disposition : `${entry.disposition}/${entry.reason}`;
  const holder = entry.allocation_id === null ? '' : ` ${entry.allocation_id}`;
  const seconds = entry.gpu_units % 63_000n === 0n ? `${entry.gpu_units / 63_000n}` : `${entry.gpu_units}/63000`;
  const money = entry.usd_micros === null ? entry.basis : `${entry.usd_micros} µ$`;
  return `${hour} ${subject} ${what}${holder}${entry.conflict ? '!' : ''} ${seconds} s, ${money}`;
}

/** The entries of an organisation, one line each. */
export function tellAll(facts: Partial<Organisation>, listPrices: ListPrice[] = []): string[] {
  return oracle(organisation(facts), listPrices).entries.map(told);
}

export const nine = at('2026-03-02 09:00:00');
export const ten = nine + 3600;
export const eleven = ten + 3600;
export const period = { present_from: nine, present_until: ten };
export const oneNode = [node({ node_id: 'n1', ...period })];
export const oneGpu = { nodes: oneNode, devices: [device({ device_id: 'g1', node_id: 'n1' })] };
export const held = { node_id: 'n1', device_id: 'g1', held_from: nine, held_until: ten };
