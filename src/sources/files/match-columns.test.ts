import { describe, expect, it } from 'vitest';
import { chargeTable } from '../../facts/charge.ts';
import type { FactTable } from '../../facts/fact-table.ts';
import { factTableByName } from '../../facts/fact-table.ts';
import { parseMap, parseSet } from './map-option.ts';
import type { Match } from './match-columns.ts';
import { matchColumns } from './match-columns.ts';

const samples = factTableByName('gpu_sample');
const allocations = factTableByName('allocation');

interface Case {
  readonly table?: FactTable;
  readonly columns: string;
  readonly map?: string;
  readonly set?: string;
}

function match({ table = samples, columns, map = '', set = '' }: Case): Match {
  const sources = columns.split(',').map((name) => ({ name, type: 'VARCHAR' }));
  return matchColumns(table, sources, parseMap([map], table), parseSet([set], table), 'a.csv');
}

/** `util_permille<-value:percent` for each column that has an origin. */
function arrows({ origins }: Match): string[] {
  return [...origins].map(([name, origin]) => {
    if (origin.kind === 'constant') return `${name}=${origin.value}`;
    if (origin.kind === 'row-number') return `${name}=#`;
    const plus = origin.kind === 'duration' ? '+' : '';
    return `${name}<-${plus}${origin.source.name}${origin.unit === undefined ? '' : `:${origin.unit}`}`;
  });
}

describe('columns of a file', () => {
  const taken: Record<string, Case & { want: string[] }> = {
    'are known by their own names': {
      columns: 'device_id,ts,util_permille',
      want: ['device_id<-device_id', 'ts<-ts', 'util_permille<-util_permille'],
    },
    'in any case, with spaces, and by other names in their own unit': {
      columns: 'UUID,Time,DCGM FI dev gpu_util',
      want: ['device_id<-UUID', 'ts<-Time', 'util_permille<-DCGM FI dev gpu_util:percent'],
    },
    'or as --map says': {
      columns: 'value,timestamp_anon,container_ip',
      map: 'ts=timestamp_anon,device_id=container_ip,util_permille=value:percent',
      want: ['ts<-timestamp_anon', 'device_id<-container_ip', 'util_permille<-value:percent'],
    },
    'a target called by another name brings its unit': {
      columns: 'uuid,ts,v',
      map: 'DCGM_FI_PROF_SM_ACTIVE=v',
      want: ['sm_permille<-v:ratio', 'device_id<-uuid', 'ts<-ts'],
    },
    'a name with a colon is a name first': {
      columns: 'a:s,uuid,util_percent',
      map: 'ts=a:s',
      want: ['ts<-a:s', 'device_id<-uuid', 'util_permille<-util_percent:percent'],
    },
    'an end may be a length, a name the number of the row': {
      table: allocations,
      columns: 'timestamp,duration,num_gpus',
      map: 'held_from=timestamp,held_until=+duration:s,allocation_id=#',
      want: ['held_from<-timestamp', 'held_until<-+duration:s', 'allocation_id=#', 'gpu_count<-num_gpus'],
    },
  };
  it.each(Object.entries(taken))('%s', (_, { want, ...given }) => {
    expect(arrows(match(given))).toEqual(want);
  });

  const refused: Record<string, Case & { want: RegExp }> = {
    'a required column that is nowhere, with the nearest': {
      columns: 'gpu_uid,ts,util_percent',
      want: /a\.csv: samples need device_id; columns not understood: gpu_uid \(nearest: device_id\)/,
    },
    'samples without anything measured': {
      columns: 'uuid,ts,gpu_utl',
      want: /need any measured value .*gpu_utl \(nearest: util_permille\)/,
    },
    'a --map to a column that is not in the file': {
      columns: 'uuid,timestamp_anon,util_percent',
      map: 'ts=timestmp_anon',
      want: /no column timestmp_anon, which --map names for ts \(nearest: timestamp_anon\)/,
    },
    'a --map from a column that is not in the table': {
      columns: 'uuid,ts,v',
      map: 'util_permile=v',
      want: /samples have no column util_permile \(nearest: util_permille\)/,
    },
    'a unit nobody knows': {
      columns: 'uuid,ts,v',
      map: 'util_permille=v:prcent',
      want: /cannot be read in prcent \(nearest: percent\)/,
    },
    'one column as two metrics': {
      columns: 'uuid,ts,v',
      map: 'util_permille=v:percent,fb_used_mib=v:bytes',
      want: /v is mapped to both util_permille and fb_used_mib/,
    },
    'an entry without a value': { columns: 'uuid,ts', map: 'ts', want: /expected name=column/ },
  };
  it.each(Object.entries(refused))('refuses %s', (_, { want, ...given }) => {
    expect(() => match(given)).toThrow(want);
  });

  it('of a bill are FOCUS names, --set gives the rest, and the others are left', () => {
    const found = match({
      table: chargeTable,
      columns:
        'BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,EffectiveCost,x_Own,Id',
      set: 'provider=A, Inc.,account=1,BillingCurrency=USD',
    });
    expect(arrows(found)).toContain('effective<-EffectiveCost');
    expect(arrows(found).slice(-3)).toEqual(['provider=A, Inc.', 'billing_account=1', 'currency=USD']);
    expect(found.notUnderstood.map(({ name }) => name)).toEqual(['x_Own', 'Id']);
  });
});
