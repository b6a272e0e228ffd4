import type { FileProblem } from '../../facts/yaml/file-problem.ts';
import type { Path } from '../../facts/yaml/schema-walk.ts';
import { parseTime } from '../../money/period.ts';
import { checkRules } from '../rules/check-rules.ts';
import { sourceForms } from './config-schema.ts';
import type { ConfigText, HeaderText, RateText, SourceFormName, SourceText } from './config-schema.ts';
import { looksSecret, urlHoldsSecret } from './secret.ts';

/** The words that say what a source is. */
export const KINDS = Object.keys(sourceForms) as SourceFormName[];

/** What no single field can tell: names that stand twice, kinds that are none or two, secrets in the open. */
export function checkConfig({ sources = [], rates = [], ...rules }: ConfigText): FileProblem[] {
  const names = sources.map(({ name }) => name);
  return [
    ...sources.flatMap((source, index) => {
      const path = ['sources', index];
      const isTaken = names.indexOf(source.name) < index;
      return [
        ...(isTaken ? [{ path: [...path, 'name'], what: `another source is called ${source.name} too` }] : []),
        ...kindProblems(source, path),
        ...headerProblems(formsOf(source).headers, path),
        ...addressProblems(source, path),
        ...placeProblems(source.slurm?.rest?.token, [...path, 'slurm', 'rest', 'token']),
      ];
    }),
    ...rates.flatMap((rate, index) => timeProblems(rate, ['rates', index])),
    ...checkRules(rules),
  ];
}

function kindProblems(source: SourceText, path: Path): FileProblem[] {
  const kinds = KINDS.filter((kind) => source[kind] !== undefined);
  if (kinds.length === 1) return [];
  return [{ path, what: `must have exactly one of ${KINDS.join(', ')}, but has ${kinds.join(' and ') || 'none'}` }];
}

function timeProblems({ from, until }: RateText, path: Path): FileProblem[] {
  const wrong = Object.entries({ from, until }).flatMap(([name, text]) => {
    const time = text === undefined ? undefined : parseTime(text);
    return time === undefined || time.ok ? [] : [{ path: [...path, name], what: time.reason }];
  });
  if (wrong.length > 0 || from === undefined || until === undefined || from < until) return wrong;
  return [{ path: [...path, 'until'], what: `must be after from, ${from}` }];
}

type Placed<Value> = readonly [place: Path, value: Value];

/** The addresses and headers of a source, whichever form they are written in, and where each stands. */
function formsOf({ prometheus, scrape, slurm }: SourceText): {
  readonly addresses: readonly Placed<string>[];
  readonly headers: readonly Placed<HeaderText>[];
} {
  const addresses: Placed<string>[] = [];
  const headers: Placed<HeaderText>[] = [];
  if (typeof prometheus === 'string') addresses.push([['prometheus'], prometheus]);
  else if (prometheus !== undefined) {
    addresses.push([['prometheus', 'url'], prometheus.url]);
    headers.push([['prometheus', 'headers'], prometheus.headers ?? {}]);
  }
  if (Array.isArray(scrape)) addresses.push(...scrape.map((url, index) => [['scrape', index], url] as const));
  else if (scrape !== undefined) {
    headers.push([['scrape', 'headers'], scrape.headers ?? {}]);
    for (const [index, target] of scrape.targets.entries()) {
      addresses.push([['scrape', 'targets', index], typeof target === 'string' ? target : target.url]);
    }
  }
  if (slurm?.rest !== undefined) addresses.push([['slurm', 'rest', 'url'], slurm.rest.url]);
  return { addresses, headers };
}

function addressProblems(source: SourceText, path: Path): FileProblem[] {
  return formsOf(source)
    .addresses.filter(([, url]) => urlHoldsSecret(url))
    .map(([place]) => ({
      path: [...path, ...place],
      what: 'must not hold a password or a token; send it as a header: {Authorization: {env: NAME, prefix: "Basic "}}',
    }));
}

function headerProblems(forms: readonly Placed<HeaderText>[], path: Path): FileProblem[] {
  return forms.flatMap(([place, headers]) =>
    Object.entries(headers).flatMap(([name, value]) => oneHeaderProblems(name, value, [...path, ...place, name])),
  );
}

function oneHeaderProblems(name: string, value: HeaderText[string], path: Path): FileProblem[] {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return [{ path, ofKey: true, what: 'is no name of a header' }];
  if (typeof value !== 'string') return placeProblems(value, path);
  if (!/^[\t\x20-\x7e]*$/.test(value)) return [{ path, what: 'must be printable ASCII' }];
  if (!looksSecret(name, value)) return [];
  return [{ path, what: 'looks like a secret, which must not stand here; write {env: NAME} or {file: PATH}' }];
}

function placeProblems(
  place: { readonly env?: string | undefined; readonly file?: string | undefined } | undefined,
  path: Path,
): FileProblem[] {
  if (place === undefined || (place.env === undefined) !== (place.file === undefined)) return [];
  return [{ path, what: 'must have either env or file' }];
}
