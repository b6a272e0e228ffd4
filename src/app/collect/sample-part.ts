import { createHash } from 'node:crypto';
import { sqlType } from '../../facts/column.ts';
import type { FactTable } from '../../facts/fact-table.ts';
import type { IncomingPart } from '../../facts/incoming.ts';
import { NO_SAMPLE } from '../../facts/source.ts';
import type { SampleBlock } from '../../facts/source.ts';
import type { Engine } from '../../lake/engine.ts';
import { quote } from '../../lake/engine.ts';

/** Names of devices in one statement; more would make it slow to read. */
const NAMES_AT_ONCE = 5000;

/** Samples in columns as a part: no text in between, which for millions of them is most of the work. */
export async function samplePart(engine: Engine, table: FactTable, block: SampleBlock): Promise<IncomingPart> {
  const key = createHash('sha256').update(block.batch).digest('hex').slice(0, 12);
  const [samples, names] = [`block_${key}`, `block_device_${key}`];
  const cut = (values: Int32Array | Uint32Array): Int32Array | Uint32Array => values.subarray(0, block.rows);
  const metrics = [...block.metrics].map(([column, values]) => [column, cut(values)] as const);
  await engine.load(samples, new Map([['place', cut(block.deviceIndex)], ['at_s', cut(block.tsSeconds)], ...metrics]));
  await engine.run(`CREATE OR REPLACE TEMP TABLE ${names} (place UINTEGER, device_id VARCHAR)`);
  for (let at = 0; at < block.devices.length; at += NAMES_AT_ONCE) {
    const rows = block.devices.slice(at, at + NAMES_AT_ONCE).map((id, index) => `(${at + index}, ${quote(id)})`);
    await engine.run(`INSERT INTO ${names} VALUES ${rows.join(', ')}`);
  }
  const whole = new Set(metrics.filter(([, values]) => !values.includes(NO_SAMPLE)).map(([column]) => column));
  const values = table.columns.map((column) => {
    const { name } = column;
    if (name === 'device_id') return 'n.device_id';
    if (name === 'ts') return 'make_timestamp(CAST(s.at_s AS BIGINT) * 1000000) AS ts';
    if (name === 'step_s') return `CAST(${block.stepS ?? 'NULL'} AS INTEGER) AS step_s`;
    if (whole.has(name)) return `s.${name}`;
    return block.metrics.has(name)
      ? `NULLIF(s.${name}, ${NO_SAMPLE}) AS ${name}`
      : `CAST(NULL AS ${sqlType(column)}) AS ${name}`;
  });
  return {
    label: block.batch,
    select: `SELECT ${values.join(', ')}, CAST(NULL AS VARCHAR) AS problem, false AS carried
      FROM ${samples} s JOIN ${names} n ON s.place = n.place`,
    rereadable: true,
    clean: true,
    known: new Set(['device_id', 'ts', ...whole, ...(block.stepS === undefined ? [] : ['step_s'])]),
    inRange: new Set(['step_s', ...block.metrics.keys()]),
    given: new Set(['device_id', 'ts', ...block.metrics.keys()]),
    origins: new Map(),
    ...spanOf(cut(block.tsSeconds)),
    place: async () => block.batch,
    explain: async (failure) => failure,
  };
}

function spanOf(seconds: Int32Array | Uint32Array): { span: readonly [string, string] } {
  let [first, last] = [Infinity, 0];
  for (const at of seconds) {
    if (at < first) first = at;
    if (at > last) last = at;
  }
  const text = (at: number): string => new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return { span: [text(first), text(last)] };
}
