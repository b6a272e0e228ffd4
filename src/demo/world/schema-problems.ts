import type { z } from 'zod';
import { nearestName } from '../../facts/nearest-name.ts';
import { schemaAt, valueAt, type Path } from './schema-walk.ts';
import { nearestHint, type WorldProblem } from './check/world-problem.ts';

type Issue = z.core.$ZodIssue;

/** What a schema found, in words for somebody who edits a file. */
export function schemaProblems(issues: readonly Issue[], world: unknown): WorldProblem[] {
  const problems = issues.filter(isOurs).flatMap((issue) => problemsOf(issue, world));
  const misspelt = new Set(problems.flatMap((problem) => meantPath(problem, world)));
  // A name misspelt is also a name missing: one of the two is enough.
  return problems.filter(({ path, ofKey }) => ofKey === true || !misspelt.has(JSON.stringify(path)));
}

/** Beyond what a double holds the library adds a bound of its own; every number has a nearer one. */
function isOurs(issue: Issue): boolean {
  if (issue.code === 'too_big') return issue.maximum !== Number.MAX_SAFE_INTEGER;
  return issue.code !== 'too_small' || issue.minimum !== Number.MIN_SAFE_INTEGER;
}

function problemsOf(issue: Issue, world: unknown): WorldProblem[] {
  const path = issue.path as Path;
  const value = valueAt(path, world);
  if (issue.code === 'unrecognized_keys') {
    const known = schemaAt(path, world).fields;
    return issue.keys.map((key) => ({
      path: [...path, key],
      ofKey: true,
      what: `is not known here${nearestHint(key, known)}`,
    }));
  }
  if (issue.code === 'invalid_key') {
    const must = issue.issues.map(({ message }) => message).join(', ');
    return [{ path, ofKey: true, what: `must be named by ${must}` }];
  }
  const choices = choicesOf(issue);
  const must = mustOf(issue);
  if (value === undefined) return [{ path, what: `is missing${choices.length > 1 ? `: ${must}` : ''}` }];
  const hint = typeof value === 'string' ? nearestHint(value, choices) : '';
  return [{ path, what: `${must}, but is ${valueText(value)}${hint}` }];
}

function meantPath({ path, ofKey }: WorldProblem, world: unknown): string[] {
  if (ofKey !== true) return [];
  const parent = path.slice(0, -1);
  const meant = nearestName(String(path.at(-1)), schemaAt(parent, world).fields);
  return meant === undefined ? [] : [JSON.stringify([...parent, meant])];
}

function choicesOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code !== 'invalid_union' || !('options' in issue)) return [];
  return (issue.options as readonly unknown[]).map(String);
}

function mustOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `must ${boundText(issue.origin, 'at least', Number(issue.minimum), issue.exact)}`;
    case 'too_big':
      return `must ${boundText(issue.origin, 'at most', Number(issue.maximum), issue.exact)}`;
    case 'invalid_value':
    case 'invalid_union':
      return `must be one of ${choicesOf(issue).join(', ')}`;
    case 'invalid_format':
      return `must be ${issue.message}`;
    default:
      return issue.message;
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of fields',
  record: 'a map of names',
};

function boundText(origin: string, bound: string, limit: number, exact = false): string {
  if (origin === 'string') return limit === 1 ? 'not be empty' : `have ${bound} ${limit} characters`;
  if (origin !== 'array') return `be ${bound} ${limit}`;
  return `have ${exact ? 'exactly' : bound} ${limit} ${limit === 1 ? 'member' : 'members'}`;
}

/** What stands there, short: whoever reads this has the file. */
export function valueText(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return `a ${typeof value}`;
  if (value === '') return 'an empty text';
  const quoted = JSON.stringify(value);
  return quoted.length <= 62 ? quoted : `${quoted.slice(0, 60)}…"`;
}
