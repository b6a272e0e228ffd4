import { describe, expect, it } from 'vitest';
import type { BrokenRow } from './sacct-layout.ts';
import { rowAssembler, sacctLayout } from './sacct-layout.ts';
import { sacctReader } from './sacct-text.ts';
import type { LeftOut, SlurmJob } from './slurm-job.ts';
import { slurmClock } from './slurm-time.ts';

const HEADER = 'JobID|State|Start|End|ElapsedRaw|Suspended|NodeList|AllocTRES|JobName';

function read(text: string, zone = 'UTC', format?: string): readonly (SlurmJob | LeftOut | BrokenRow)[] {
  const lines = text.split('\n');
  const layout = sacctLayout(lines[0] ?? '', lines[1], format);
  const assembler = rowAssembler(layout);
  const job = sacctReader(layout, slurmClock(zone));
  return [...lines.flatMap((line) => assembler.push(line)), ...assembler.end()].map((row) =>
    'broken' in row ? row : job(row),
  );
}

const one = (row: string, zone?: string) => read(`${HEADER}\n${row}`, zone)[0];
const at = (text: string) => Date.parse(text) / 1000;

describe('one row of sacct', () => {
  const cases: Record<string, { row: string; zone?: string; want: object }> = {
    'a job that ended': {
      row: '3|COMPLETED|2026-11-16T04:56:01|2026-11-16T04:56:31|30|00:00:00|gpu-[01-02]|cpu=2,gres/gpu=4,gres/gpu:h100=4|train',
      want: {
        jobId: '3',
        state: 'COMPLETED',
        start: at('2026-11-16T04:56:01Z'),
        end: at('2026-11-16T04:56:31Z'),
        nodes: ['gpu-01', 'gpu-02'],
        name: 'train',
      },
    },
    'a task of an array': {
      row: '4_3|FAILED|2026-11-16T04:56:06|2026-11-16T04:56:10|4||g1|gres/gpu=1|x',
      want: { jobId: '4_3' },
    },
    'a part of a heterogeneous job': {
      row: '18+1|COMPLETED|2026-11-16T04:56:06|2026-11-16T04:56:10|4||g1|gres/gpu=1|x',
      want: { jobId: '18+1' },
    },
    'cancelled by somebody': {
      row: '13|CANCELLED by 1005|2026-11-16T04:56:01|2026-11-16T04:56:07|6||g1|gres/gpu=1|x',
      want: { state: 'CANCELLED' },
    },
    'a state that was cut off': {
      row: '13|OUT_OF_ME+|2026-11-16T04:56:01|2026-11-16T04:56:07|6||g1|gres/gpu=1|x',
      want: { state: 'OUT_OF_MEMORY' },
    },
    'one that still runs has no end': {
      row: '9|RUNNING|2026-11-16T04:56:01|Unknown|120|00:00:00|g1|gres/gpu=1|x',
      want: { start: at('2026-11-16T04:56:01Z'), elapsedS: 120 },
    },
    'suspended time is held too': {
      row: '15|COMPLETED|2026-11-16T04:56:04|Unknown|8|00:00:04|g1|gres/gpu=1|x',
      want: { end: at('2026-11-16T04:56:16Z'), suspendedS: 4 },
    },
    'never started': {
      row: '12|CANCELLED by 0|None|2026-11-16T04:56:07|0|00:00:00|None assigned||x',
      want: { nodes: [] },
    },
    'tasks that wait': { row: '4_[5-9%2]|PENDING|Unknown|Unknown|0||None assigned||x', want: { jobId: '4_[5-9%2]' } },
    'a step': {
      row: '3.batch|COMPLETED|2026-11-16T04:56:01|2026-11-16T04:56:31|30||g1|gres/gpu=4|batch',
      want: { leftOut: expect.stringContaining('job steps') },
    },
    'a name with bars in it': {
      row: '3|COMPLETED|2026-11-16T04:56:01|2026-11-16T04:56:31|30||g1|gres/gpu=4|a|b|c',
      want: { name: 'a|b|c' },
    },
    'no state of Slurm’s': {
      row: '3|DONE|2026-11-16T04:56:01|2026-11-16T04:56:31|30||g1|gres/gpu=4|x',
      want: { leftOut: expect.stringContaining('state') },
    },
    'no time': {
      row: '3|FAILED|whenever|2026-11-16T04:56:31|30||g1|gres/gpu=4|x',
      want: { leftOut: expect.stringContaining('time') },
    },
    'the length tells which of the repeated hours was meant': {
      row: '3|COMPLETED|2026-10-25T01:50:00|2026-10-25T02:10:00|4800||g1|gres/gpu=4|x',
      zone: 'Europe/Berlin',
      want: { start: at('2026-10-24T23:50:00Z'), end: at('2026-10-25T01:10:00Z') },
    },
    'the other one': {
      row: '3|COMPLETED|2026-10-25T01:50:00|2026-10-25T02:10:00|1200||g1|gres/gpu=4|x',
      zone: 'Europe/Berlin',
      want: { end: at('2026-10-25T00:10:00Z') },
    },
  };
  it.each(Object.entries(cases))('%s', (_, { row, zone, want }) => expect(one(row, zone)).toMatchObject(want));

  it('says nothing of an end it does not know', () => {
    expect(one('9|RUNNING|2026-11-16T04:56:01|Unknown|120||g1|gres/gpu=1|x')).not.toHaveProperty('end');
    expect(one('12|CANCELLED by 0|None|2026-11-16T04:56:07|0||None assigned||x')).not.toHaveProperty('start');
  });
});

describe('the shape of a file', () => {
  const row = '3|COMPLETED|2026-11-16T04:56:01|2026-11-16T04:56:31|30|00:00:00|g1|gres/gpu=4|x';

  it('goes by its header, in any order and with widths', () => {
    const text = 'AllocTRES|Start|End|JobName%30|JobIDRaw\ngres/gpu=2|2026-11-16T04:56:01|2026-11-16T04:56:31|x|77';
    expect(read(text)[0]).toMatchObject({ jobId: '77', allocated: { gpus: 2 } });
  });
  it('goes by --format where there is no header', () => {
    expect(read(row, 'UTC', HEADER.replaceAll('|', ','))[0]).toMatchObject({ jobId: '3' });
  });
  it('allows the bar that -p leaves at the end', () => {
    expect(read(`${HEADER}|\n${row}|`)[0]).toMatchObject({ jobId: '3', name: 'x' });
  });
  it('takes tabs and semicolons', () => {
    const tabs = `${HEADER}\n${row}`.replaceAll('|', '\t');
    expect(read(tabs)[0]).toMatchObject({ jobId: '3', nodes: ['g1'] });
    expect(read(tabs.replaceAll('\t', ';'))[0]).toMatchObject({ jobId: '3', nodes: ['g1'] });
  });
  it('joins a name that has line breaks, and never makes a row of it', () => {
    const evil =
      'JobID|State|Start|End|NodeList|AllocTRES|Comment|JobIDRaw\n7|FAILED|2026-11-16T04:56:01|2026-11-16T04:56:31|g1|gres/gpu=1|a\n99\nb|7';
    expect(read(evil)).toEqual([expect.objectContaining({ jobId: '7', comment: 'a\n99\nb' })]);
  });
  it('a row that was cut off does not swallow the next', () => {
    expect(read(`${HEADER}\n5|COMPL\n${row}`)).toEqual([
      expect.objectContaining({ broken: 'rows with too few columns', line: 2 }),
      expect.objectContaining({ jobId: '3' }),
    ]);
  });
  it('reads resources of the time before TRES: given for all machines, asked for on each', () => {
    const old = (gres: string) =>
      read(
        `JobID|State|Start|End|NNodes|NodeList|${gres}\n3|COMPLETED|2016-11-16T04:56:01|2016-11-16T04:56:31|2|g[1-2]|gpu:2`,
      )[0];
    expect(old('AllocGRES')).toMatchObject({ allocated: { gpus: 2 } });
    expect(old('ReqGRES')).toMatchObject({ requested: { gpus: 4 }, gpusAreRequested: true });
  });

  const refused: Record<string, { text: string; format?: string; want: RegExp }> = {
    'no header and no --format': { text: row, want: /does not name the columns/ },
    'output for a screen': { text: 'JobID           Start\n------------ ----------\n3  2026', want: /cut off/ },
    'nobody says how many GPUs': { text: 'JobID|Start|End\n3|a|b', want: /AllocTRES/ },
    'fewer columns than named': {
      text: '3|x',
      format: 'JobID,Start,End,AllocTRES',
      want: /has 2 columns, --format names 4/,
    },
    'a format that is none': { text: row, format: 'JobID,$(id)', want: /not the name of a column/ },
  };
  it.each(Object.entries(refused))('%s is refused', (_, { text, format, want }) => {
    expect(() => read(text, 'UTC', format)).toThrow(want);
  });
});
