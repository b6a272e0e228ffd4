import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeDemoFolder } from './demo-files.ts';
import type { DemoFolder } from './demo-files.ts';

const DATE = new Date('2026-11-01T00:00:00Z');
let out = '';
let path = '';
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'bursar-demo-files-'));
  path = join(out, 'files');
});
afterEach(() => rmSync(out, { recursive: true }));

const make = (fill: (folder: DemoFolder) => void) => writeDemoFolder({ path, world: 'name: a\n', date: DATE }, fill);
const truth = (folder: DemoFolder): void => folder.add(null, 'truth.csv', 'from\n', ['x\n']);
const read = (name: string): string => readFileSync(join(path, name), 'utf8');

describe('files of a demo', () => {
  it('grow day by day, begin with their header once, and are listed as they first came, with their rows', () => {
    const files = make((folder) => {
      folder.add('nodes', 'nodes.csv', 'node_id\n', ['a\nb\n', 'c\n']);
      truth(folder);
      folder.add('nodes', 'nodes.csv', 'node_id\n', []);
      folder.add('nodes', 'nodes.csv', 'node_id\n', ['d\n']);
      folder.add('rates', 'rates.csv', 'node_id\n', []);
    });
    expect(files).toEqual([
      { table: 'nodes', name: 'nodes.csv', path: join(path, 'nodes.csv'), rows: 4 },
      { table: null, name: 'truth.csv', path: join(path, 'truth.csv'), rows: 1 },
      { table: 'rates', name: 'rates.csv', path: join(path, 'rates.csv'), rows: 0 },
    ]);
    expect(read('nodes.csv')).toBe('node_id\na\nb\nc\nd\n');
    expect(read('rates.csv')).toBe('node_id\n');
    expect(read('world.yaml')).toBe('name: a\n');
  });

  it('are written in chunks, whole to the last line', () => {
    const line = `${'x'.repeat(999)}\n`;
    const files = make((folder) => {
      folder.add(
        'samples',
        'samples-2026-10-31.csv',
        '',
        Array.from({ length: 3000 }, () => line),
      );
      truth(folder);
    });
    expect(files[0]?.rows).toBe(3000);
    expect(read('samples-2026-10-31.csv')).toBe(line.repeat(3000));
  });

  it('say that they were written when the window ended', () => {
    make(truth);
    for (const name of readdirSync(path)) expect(statSync(join(path, name)).mtime).toEqual(DATE);
  });

  it('replace those of the demo before, all of them', () => {
    make((folder) => {
      truth(folder);
      folder.add('fx', 'fx.csv', 'currency\n', []);
    });
    make(truth);
    expect(readdirSync(path).toSorted()).toEqual(['truth.csv', 'world.yaml']);
    expect(readdirSync(out)).toEqual(['files']);
  });

  it('that fail half-way leave those of the demo before, and nothing of their own', () => {
    make(truth);
    expect(() =>
      make((folder) => {
        folder.add('nodes', 'nodes.csv', 'node_id\n', ['a\n']);
        throw new Error('the disk is full');
      }),
    ).toThrow('the disk is full');
    expect(readdirSync(out)).toEqual(['files']);
    expect(readdirSync(path).toSorted()).toEqual(['truth.csv', 'world.yaml']);
  });

  const kills: Record<string, () => void> = {
    'while it wrote': () => {
      mkdirSync(`${path}.unfinished`);
      writeFileSync(join(`${path}.unfinished`, 'nodes.csv'), '');
    },
    'while it put the new ones in place': () => renameSync(path, `${path}.replaced`),
    'while it deleted the old ones': () => {
      mkdirSync(`${path}.replaced`);
      writeFileSync(join(`${path}.replaced`, 'fx.csv'), '');
    },
    'while an earlier version deleted the old ones where they were': () => {
      for (const name of ['truth.csv', 'world.yaml']) rmSync(join(path, name));
    },
  };
  const makeTwoFiles = () =>
    make((folder) => {
      truth(folder);
      folder.add('fx', 'fx.csv', 'currency\n', []);
    });
  it.each(Object.entries(kills))('take the place of what a demo left that was killed %s', (_, kill) => {
    makeTwoFiles();
    kill();
    make(truth);
    expect(readdirSync(path).toSorted()).toEqual(['truth.csv', 'world.yaml']);
    expect(readdirSync(out)).toEqual(['files']);
  });

  it('are never gone when one was killed and the next fails', () => {
    makeTwoFiles();
    renameSync(path, `${path}.replaced`);
    expect(() =>
      make(() => {
        throw new Error('the disk is full');
      }),
    ).toThrow('the disk is full');
    expect(readdirSync(out)).toEqual(['files']);
    expect(readdirSync(path).toSorted()).toEqual(['fx.csv', 'truth.csv', 'world.yaml']);
  });

  it('stand where they did until the new ones are whole, and are then moved, not deleted file by file', () => {
    makeTwoFiles();
    const before = statSync(path).ino;
    make((folder) => {
      truth(folder);
      expect(statSync(path).ino).toBe(before);
      expect(readdirSync(path).toSorted()).toEqual(['fx.csv', 'truth.csv', 'world.yaml']);
    });
    expect(statSync(path).ino).not.toBe(before);
  });

  it.each([['.unfinished'], ['.replaced']])('never delete what somebody put into files%s', (ending) => {
    mkdirSync(`${path}${ending}`);
    writeFileSync(join(`${path}${ending}`, 'notes.txt'), 'mine');
    expect(() => make(truth)).toThrow(expect.objectContaining({ code: 'not-empty' }));
    expect(readFileSync(join(`${path}${ending}`, 'notes.txt'), 'utf8')).toBe('mine');
  });

  it('never take the place of somebody’s who chose the same names', () => {
    makeTwoFiles();
    rmSync(join(path, 'world.yaml'));
    writeFileSync(join(path, 'nodes.csv'), 'mine');
    expect(() => make(truth)).toThrow(expect.objectContaining({ code: 'not-empty' }));
    expect(read('nodes.csv')).toBe('mine');
  });

  it('have names a later demo knows for a demo’s', () => {
    expect(() => make((folder) => folder.add('nodes', 'machines.csv', '', []))).toThrow('no name of a demo');
  });

  it('never take the place of somebody’s', () => {
    make(truth);
    writeFileSync(join(path, 'notes.txt'), 'mine');
    expect(() => make(truth)).toThrow(expect.objectContaining({ code: 'not-empty' }));
    expect(read('notes.txt')).toBe('mine');
    expect(existsSync(`${path}.unfinished`)).toBe(false);
  });
});
