import { nearestName } from '../nearest-name.ts';
import type { Path } from './schema-walk.ts';

/** Something wrong with what a file says, and where. */
export interface FileProblem {
  /** What is missing is named too: the place is then that of what should hold it. */
  readonly path: Path;
  /** Whether the name of the field is wrong rather than what it holds. */
  readonly ofKey?: boolean;
  /** Goes on from the path: `must be at most 100, but is 250`. */
  readonly what: string;
}

/** `; nearest: share_percent`, or nothing where no known name is alike. */
export function nearestHint(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? '' : `; nearest: ${near}`;
}

/** `pools[2].share_percent` */
export function pathText(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
