import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { csvShape, findCsvRecord } from './csv-text.ts';

describe('csvShape', () => {
  const cases: Record<string, { text: string; want: { delimiter: string; columns: string[] } }> = {
    commas: { text: 'a,b,c\n1,2,3\n', want: { delimiter: ',', columns: ['a', 'b', 'c'] } },
    semicolons: { text: 'a;b\n1,5;2\n', want: { delimiter: ';', columns: ['a', 'b'] } },
    tabs: { text: 'a\tb\r\n', want: { delimiter: '\t', columns: ['a', 'b'] } },
    pipes: { text: 'JobID|State\n', want: { delimiter: '|', columns: ['JobID', 'State'] } },
    'a separator inside quotes does not count': {
      text: '"a;b;c",d\n',
      want: { delimiter: ',', columns: ['a;b;c', 'd'] },
    },
    'a byte order mark is not part of a name': { text: '\uFEFFa,b', want: { delimiter: ',', columns: ['a', 'b'] } },
    'one column': { text: 'node_id\nx\n', want: { delimiter: ',', columns: ['node_id'] } },
    'two columns of one name': { text: 'a,A,\n', want: { delimiter: ',', columns: ['a', 'A (2)', 'column 3'] } },
  };
  it.each(Object.entries(cases))('%s', (_, { text, want }) => {
    expect(csvShape(text, 'a.csv')).toEqual(want);
  });

  it('refuses a file that begins with data', () => {
    expect(() => csvShape('0.0,1662858720.0,23b8eba9\n', 'a.csv')).toThrow('a.csv has no header line');
  });
});

describe('findCsvRecord', () => {
  it('gives the line an editor shows, past quoted newlines and blank lines', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bursar-csv-'));
    const path = join(folder, 'a.csv');
    await writeFile(path, 'a,b\r\n1,"x\ny"\r\n\r\n2,z\r\n3\r\n');
    expect(await findCsvRecord(path, ',', ({ row }) => row === 2)).toMatchObject({ row: 2, line: 5 });
    expect(await findCsvRecord(path, ',', ({ fields }) => fields !== 2)).toEqual({ row: 3, line: 6, fields: 1 });
    await rm(folder, { recursive: true });
  });
});
