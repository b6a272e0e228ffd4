import type { z } from 'zod';
import { nearestName } from '../nearest-name.ts';
import { nearestHint, type FileProblem } from './file-problem.ts';
import { schemaAt, valueAt, type Path } from './schema-walk.ts';

type Issue = z.core.$ZodIssue;

/** What a schema is told about, and what of it may not be repeated. */
export interface Checked {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** Places that may hold a secret: what stands there is not shown. */
  readonly hides?: (path: Path) => boolean;
}

/** What a schema found, in words for somebody who edits a file. */
export function schemaProblems(issues: readonly Issue[], checked: Checked): FileProblem[] {
  const problems = issues.filter(isOurs).flatMap((issue) => problemsOf(issue, checked));
  const misspelt = new Set(problems.flatMap((problem) => meantPath(problem, checked)));
  // A name misspelt is also a name missing: one of the two is enough.
  return problems.filter(({ path, ofKey }) => ofKey === true || !misspelt.has(JSON.stringify(path)));
}

/** Beyond what a double holds the library adds a bound of its own; every number has a nearer one. */
function isOurs(issue: Issue): boolean {
  if (issue.code === 'too_big') return issue.maximum !== Number.MAX_SAFE_INTEGER;
  return issue.code !== 'too_small' || issue.minimum !== Number.MIN_SAFE_INTEGER;
}

function problemsOf(issue: Issue, checked: Checked): FileProblem[] {
  const path = issue.path as Path;
  const value = valueAt(path, checked.value);
  const meant = meantForm(issue);
  if (meant !== undefined) return meant.filter(isOurs).flatMap((inner) => problemsOf(inner, checked));
  if (issue.code === 'unrecognized_keys') {
    const known = schemaAt(checked.schema, path, checked.value).fields;
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
  if (checked.hides?.(path) === true) return [{ path, what: must }];
  const hint = typeof value === 'string' ? nearestHint(value, choices) : '';
  return [{ path, what: `${must}, but is ${valueText(value)}${hint}` }];
}

/** Where several forms may stand, what is wrong with the one that was meant; undefined where none was. */
function meantForm(issue: Issue): Issue[] | undefined {
  if (issue.code !== 'invalid_union' || 'options' in issue) return undefined;
  const meant = issue.errors.find(
    (inner) => !inner.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  return meant?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

function meantPath({ path, ofKey }: FileProblem, { schema, value }: Checked): string[] {
  if (ofKey !== true) return [];
  const parent = path.slice(0, -1);
  const meant = nearestName(String(path.at(-1)), schemaAt(schema, parent, value).fields);
  return meant === undefined ? [] : [JSON.stringify([...parent, meant])];
}

function choicesOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code !== 'invalid_union') return [];
  if ('options' in issue) return (issue.options as readonly unknown[]).map(String);
  return issue.errors.flatMap((inner) =>
    inner.flatMap((each) => (each.code === 'invalid_type' ? [TYPE_WORDS[each.expected] ?? each.expected] : [])),
  );
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
