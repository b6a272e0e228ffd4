import { day, dollars, percentsOf } from './figures.ts';
import { safeText } from './safe-text.ts';

/** A rule that would give unattributed money an owner, and why. */
export interface RuleSuggestion {
  readonly dimension: 'team' | 'class';
  readonly value: string;
  /** As a rule names it. */
  readonly attribute: string;
  readonly patterns: readonly string[];
  /** Whether what has an owner already must be kept out. */
  readonly guards: boolean;
  readonly usdMicros: bigint;
  readonly evidence: string;
  readonly example: string;
}

/** Money that names nobody and could be split. */
export interface SharedSuggestion {
  readonly name: string;
  readonly when: Readonly<Record<string, string>>;
  readonly usdMicros: bigint;
  readonly example: string;
}

export interface RuleSuggestions {
  readonly window: { readonly from: Date; readonly until: Date };
  readonly totalUsdMicros: bigint;
  readonly unownedUsdMicros: bigint;
  /** What would still be nobody's. */
  readonly leftUsdMicros: bigint;
  readonly rules: readonly RuleSuggestion[];
  readonly shared: readonly SharedSuggestion[];
}

/** What keeps a rule away from what a label, an account or a namespace already says. */
const GUARDS: Readonly<Record<RuleSuggestion['dimension'], Readonly<Record<string, string | readonly string[]>>>> = {
  team: { 'label.team': '', account: '', namespace: ['', 'default'], 'tag.team': '' },
  class: { 'label.class': '' },
};

/** What one line says of it all. */
export function suggestionHeadline({
  totalUsdMicros: total,
  unownedUsdMicros: none,
  leftUsdMicros: left,
  window,
}: RuleSuggestions): string {
  const share = (part: bigint): string => percentsOf([part, total - part])[0] ?? '';
  return (
    `${dollars(none)} of ${dollars(total)} (${share(none)}) has no team from ${day(window.from)} to ` +
    `${day(new Date(window.until.getTime() - 1))}; with these rules ${dollars(left)} (${share(left)}).`
  );
}

/** YAML to paste into bursar.yaml: texts quoted as JSON, which is YAML too, so that no name can say more than a name. */
export function suggestionYaml(suggestions: RuleSuggestions): string[] {
  const { rules, shared } = suggestions;
  return [
    `# ${suggestionHeadline(suggestions)}`,
    ...(rules.length === 0 ? [] : ['rules:', ...rules.flatMap(ruleLines)]),
    ...(shared.length === 0 ? [] : ['shared:', ...shared.flatMap(sharedLines)]),
    ...(rules.length + shared.length === 0 ? ['# Nothing to suggest: no evidence says whose the rest is.', '{}'] : []),
  ];
}

/** One suggested rule by itself, to paste under `rules:` or `shared:`. */
export function oneRuleYaml(rule: RuleSuggestion | SharedSuggestion): string {
  return ('attribute' in rule ? ['rules:', ...ruleLines(rule)] : ['shared:', ...sharedLines(rule)]).join('\n');
}

export function suggestionJson({ window, ...suggestions }: RuleSuggestions): unknown {
  return { window: { from: window.from.toISOString(), until: window.until.toISOString() }, ...suggestions };
}

function ruleLines(rule: RuleSuggestion): string[] {
  const guards = rule.guards ? Object.entries(GUARDS[rule.dimension]).filter(([name]) => name !== rule.attribute) : [];
  return [
    `  # ${dollars(rule.usdMicros)}: ${safeText(rule.evidence)}; e.g. ${safeText(rule.example)}`,
    '  - when:',
    `      ${quoted(rule.attribute)}: ${valueText(rule.patterns)}`,
    ...guards.map(([name, value]) => `      ${quoted(name)}: ${valueText([value].flat())}`),
    `    set: {${rule.dimension}: ${quoted(rule.value)}}`,
  ];
}

function sharedLines({ name, when, usdMicros, example }: SharedSuggestion): string[] {
  return [
    `  # ${dollars(usdMicros)} that names nobody; e.g. ${safeText(example)}`,
    `  - name: ${quoted(name)}`,
    '    when:',
    ...Object.entries(when).map(([attribute, value]) => `      ${quoted(attribute)}: ${quoted(value)}`),
    '    split: cost',
  ];
}

function valueText(values: readonly string[]): string {
  const [first = ''] = values;
  return values.length === 1 ? quoted(first) : `[${values.map(quoted).join(', ')}]`;
}

/** Plain words as they are; anything else as JSON, with what a YAML reader might not take escaped. */
function quoted(text: string): string {
  if (/^[A-Za-z][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|none|y|n)$/i.test(text)) return text;
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffd]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
