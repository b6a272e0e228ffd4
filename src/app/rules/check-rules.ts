import type { FileProblem } from '../../facts/yaml/file-problem.ts';
import { nearestHint } from '../../facts/yaml/file-problem.ts';
import type { Path } from '../../facts/yaml/schema-walk.ts';
import { parseTime } from '../../money/period.ts';
import { DRAWN_NAME_END, LEFT_OUT_LABELS } from '../../ledger/subject.ts';
import { circleFrom } from './aliases.ts';
import { ATTRIBUTES, attributeNamed, kindsWith, SUBJECT_KINDS } from './attribute.ts';
import { groupCount, meets, parsePattern, regexFault } from './pattern.ts';
import { aliasesOf, firstRegex, poolOf, ruleOf, valueParts } from './read-rules.ts';
import { coveringPool, coveringRules } from './rule-cover.ts';
import { OWNER_DIMENSIONS } from './rule.ts';
import type { Condition, Pattern } from './rule.ts';
import type { RulesText, RuleText, WhenText } from './rules-schema.ts';

const LEFT_OUT = new RegExp(LEFT_OUT_LABELS, 's');
const DRAWN_END = new RegExp(DRAWN_NAME_END);

/** What no single field can tell about rules, aliases and shared pools: what can never match, and names that go in circles. */
export function checkRules({ rules = [], aliases = {}, shared = [] }: RulesText): FileProblem[] {
  const problems = [
    ...rules.flatMap((rule, place) => ruleProblems(rule, ['rules', place])),
    ...shared.flatMap((pool, place) => partProblems(pool, ['shared', place])),
    ...shared.flatMap(({ name, split }, place) => {
      const first = shared.findIndex((other) => other.name === name);
      const isNothing = typeof split !== 'string' && Object.values(split).every((weight) => weight === 0);
      return [
        ...(first < place ? [{ path: ['shared', place, 'name'], what: `another pool is called ${name} too` }] : []),
        ...(isNothing ? [{ path: ['shared', place, 'split'], what: 'must give somebody a part above 0' }] : []),
      ];
    }),
    ...OWNER_DIMENSIONS.flatMap((dimension) => aliasProblems(aliases[dimension] ?? {}, ['aliases', dimension])),
  ];
  // What is misspelt covers nothing: order is looked at once every rule means something.
  return problems.length > 0 ? problems : orderProblems({ rules, shared });
}

function ruleProblems(rule: RuleText, path: Path): FileProblem[] {
  const problems = partProblems(rule, path);
  const values = OWNER_DIMENSIONS.flatMap((dimension) => {
    const value = rule.set[dimension];
    return typeof value === 'string' ? valueProblems(value, rule, [...path, 'set', dimension]) : [];
  });
  const isEmpty = OWNER_DIMENSIONS.every((dimension) => rule.set[dimension] === undefined);
  if (isEmpty) problems.push({ path: [...path, 'set'], what: `must set one of ${OWNER_DIMENSIONS.join(', ')}` });
  // A group of a regex that does not compile is no second mistake.
  return problems.length > 0 ? problems : values;
}

function partProblems(
  part: { when: WhenText; from?: string | undefined; until?: string | undefined },
  path: Path,
): FileProblem[] {
  const problems = Object.entries(part.when).flatMap(([name, texts]) =>
    conditionProblems(name, [texts].flat(), [...path, 'when', name]),
  );
  return [
    ...problems,
    ...(problems.length > 0 ? [] : togetherProblems(part.when, [...path, 'when'])),
    ...dayProblems(part, path),
  ];
}

function conditionProblems(name: string, texts: readonly string[], path: Path): FileProblem[] {
  const attribute = attributeNamed(name);
  if (attribute === undefined) {
    const names = [...Object.keys(ATTRIBUTES), 'label.KEY', 'tag.KEY'];
    const hint = nearestHint(name, names) || `; one of ${names.join(', ')}`;
    return [{ path, ofKey: true, what: `is nothing a rule can look at${hint}` }];
  }
  if (attribute.column === 'labels' && LEFT_OUT.test(attribute.key ?? '')) {
    return [{ path, ofKey: true, what: 'can never match: this label differs for every job and is not kept' }];
  }
  const patterns = texts.map(parsePattern);
  const faults = patterns.flatMap((pattern, place) => {
    const at = texts.length > 1 ? [...path, place] : path;
    const what = patternFault(name, pattern);
    return what === undefined ? [] : [{ path: at, what }];
  });
  if (faults.length > 0) return faults;
  const plain = patterns.filter(({ isNegated }) => !isNegated);
  const negated = patterns.filter(({ isNegated }) => isNegated);
  const isContradiction =
    plain.length > 0 &&
    plain.every((pattern) =>
      negated.some((no) => (pattern.kind === 'exact' ? meets(no, pattern.text) : same(no, pattern))),
    );
  return isContradiction ? [{ path, what: 'can never match: what it asks for is excluded by a !' }] : [];
}

function same(a: Pattern, b: Pattern): boolean {
  return a.kind === b.kind && a.text === b.text;
}

function patternFault(name: string, { kind, text }: Pattern): string | undefined {
  if (kind === 'regex') {
    const fault = regexFault(text);
    return fault === undefined ? undefined : `is no regular expression (RE2): ${fault}`;
  }
  if (kind === 'glob') return undefined;
  if (name === 'what' && !SUBJECT_KINDS.some((known) => known === text)) {
    return `can never match: one of ${SUBJECT_KINDS.join(', ')}${nearestHint(text, SUBJECT_KINDS)}`;
  }
  const end = name === 'name' ? DRAWN_END.exec(text) : null;
  if (end !== null && end[0] !== '-0') {
    return `can never match: numbers and hashes at the end of names are read as -0; write ${text.slice(0, end.index)}-*`;
  }
  return undefined;
}

/** Attributes that no one subject can have together: a namespace and the state of an empty machine. */
function togetherProblems(when: WhenText, path: Path): FileProblem[] {
  let kinds: readonly string[] = SUBJECT_KINDS;
  let before: string | undefined;
  for (const [name, texts] of Object.entries(when)) {
    const attribute = attributeNamed(name);
    const patterns = [texts].flat().map(parsePattern);
    if (attribute === undefined || !mustBeThere(patterns)) continue;
    const possible =
      name === 'what'
        ? SUBJECT_KINDS.filter((kind) => patterns.some((each) => !each.isNegated && meets(each, kind)))
        : kindsWith(attribute);
    const left = kinds.filter((kind) => possible.some((each) => each === kind));
    if (left.length === 0) {
      return [
        {
          path: [...path, name],
          ofKey: true,
          what: `can never match: nothing has it together with ${before ?? 'that'}`,
        },
      ];
    }
    if (left.length < kinds.length) before = name;
    kinds = left;
  }
  return [];
}

/** Whether a condition asks for something: a list with an empty text is also met by what is not there. */
function mustBeThere(patterns: readonly Pattern[]): boolean {
  const plain = patterns.filter(({ isNegated }) => !isNegated);
  return plain.length > 0 && plain.every(({ text }) => text !== '');
}

function dayProblems(
  { from, until }: { from?: string | undefined; until?: string | undefined },
  path: Path,
): FileProblem[] {
  const wrong = Object.entries({ from, until }).flatMap(([name, text]) => {
    const time = text === undefined ? undefined : parseTime(text);
    return time === undefined || time.ok ? [] : [{ path: [...path, name], what: time.reason }];
  });
  if (wrong.length > 0 || from === undefined || until === undefined || from < until) return wrong;
  return [{ path: [...path, 'until'], what: `can never match: must be after from, ${from}` }];
}

function valueProblems(value: string, rule: RuleText, path: Path): FileProblem[] {
  return valueParts(value).flatMap((part) => {
    if (typeof part === 'string') return [];
    if (!/^\d+$/.test(part.name)) {
      const isKnown = attributeNamed(part.name) !== undefined;
      return isKnown
        ? []
        : [
            {
              path,
              what: `{${part.name}} is nothing a rule can look at${nearestHint(part.name, Object.keys(ATTRIBUTES))}`,
            },
          ];
    }
    const regex = firstRegex(conditionsOf(rule));
    if (regex === undefined) return [{ path, what: `{${part.name}} needs a /regex/ with a group in when` }];
    const groups = groupCount(regex.regex);
    if (Number(part.name) >= 1 && Number(part.name) <= groups) return [];
    return [{ path, what: `{${part.name}} is no group of /${regex.regex}/, which has ${groups}` }];
  });
}

function conditionsOf(rule: RuleText): readonly Condition[] {
  return ruleOf(rule, 0).when;
}

function aliasProblems(renamed: Parameters<typeof aliasesOf>[0], path: Path): FileProblem[] {
  const aliases = aliasesOf(renamed);
  return aliases.flatMap(({ from, since }) => {
    const time = since === undefined ? undefined : parseTime(since);
    if (time !== undefined && !time.ok) return [{ path: [...path, from, 'from'], what: time.reason }];
    const circle = circleFrom(aliases, from);
    return circle === undefined ? [] : [{ path: [...path, from], what: `goes in a circle: ${circle.join(' → ')}` }];
  });
}

/** Rules and pools that nothing reaches, because what stands before takes all of it. */
function orderProblems({
  rules,
  shared,
}: {
  rules: NonNullable<RulesText['rules']>;
  shared: NonNullable<RulesText['shared']>;
}): FileProblem[] {
  const told = rules.map(ruleOf);
  const pools = shared.map(poolOf);
  return [
    ...told.flatMap((rule, place) => {
      const before = coveringRules(rule, told.slice(0, place));
      if (before.length === 0) return [];
      return [
        {
          path: ['rules', place],
          what: `can never match: ${before.join(' and ')} stands before it and takes all of it`,
        },
      ];
    }),
    ...pools.flatMap((pool, place) => {
      const before = coveringPool(pool, pools.slice(0, place));
      if (before === undefined) return [];
      return [
        { path: ['shared', place], what: `can never match: ${before.name} stands before it and takes all of it` },
      ];
    }),
  ];
}
