import { describe, expect, test } from 'vitest';
import { chargeTable } from '../../src/facts/charge.ts';
import { CHARGE_COLUMNS } from './organisation.ts';
import { node, organisation } from './rows.ts';
import { nine } from './told.ts';
import { FOCUS_NAMES, toFiles } from './to-files.ts';

describe('files', () => {
  test('charges have the columns of the lake, under the names of FOCUS', () => {
    expect(CHARGE_COLUMNS).toEqual(chargeTable.columns.map((column) => column.name));
    expect(CHARGE_COLUMNS.map((column) => FOCUS_NAMES[column])).toEqual(
      chargeTable.columns.map((column) => column.alsoKnownAs?.[0]?.name),
    );
  });
  test('a file has the columns that have values, and starts that were left out stay out', () => {
    const nodes = [node({ node_id: 'n1', gpu_count: 0 }), node({ node_id: 'n,2', present_from: nine })];
    expect(toFiles(organisation({ nodes }))).toEqual({
      nodes: 'present_from,gpu_count,node_id\n,0,n1\n2026-03-02T09:00:00Z,,"n,2"\n',
    });
  });
});
