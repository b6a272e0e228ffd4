import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One file of the repository, as a rule sees it. */
export interface RepoFile {
  /** Below the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A rule of the house: it looks at files and says `path:line: what is wrong`, one text for each offence. */
export type Rule = (files: readonly RepoFile[]) => string[];

/**
 * Every file of the repository, without the folders .gitignore names; of a picture only its name. Walks, so that a copy without git is checked
 * all the same.
 */
export function repoFiles(root: string): RepoFile[] {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n');
  const notOurs = new Set(['.git', ...ignored.filter((line) => line.endsWith('/')).map((line) => line.slice(0, -1))]);
  const found: RepoFile[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (notOurs.has(entry.name)) continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile() && !path.endsWith('.tgz')) {
        const bytes = readFileSync(join(root, path));
        found.push({ path, text: bytes.includes(0) ? '' : bytes.toString('utf8') });
      }
    }
  };
  walk('');
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

export function isTypeScript(path: string): boolean {
  return path.endsWith('.ts') && !path.endsWith('.d.ts');
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/');
}
