/** One condition of a filter as the API takes it: `team=nlp`, `team=` for what has none. */
export interface Condition {
  readonly name: string;
  /** Null is what nobody can say. */
  readonly value: string | null;
}

/** A name may have commas and bars in it: it stays one name. */
export function conditionText({ name, value }: Condition): string {
  return `${name}=${(value ?? '').replaceAll(/[\\,|]/g, '\\$&')}`;
}

/** Filters one after the other; undefined without any. */
export function filterText(...parts: readonly (string | Condition | undefined)[]): string | undefined {
  const texts = parts
    .flatMap((part) => part ?? [])
    .map((part) => (typeof part === 'string' ? part : conditionText(part)))
    .filter((text) => text !== '');
  return texts.length === 0 ? undefined : texts.join(',');
}

/** The conditions of a filter, each as it stands: `team=nlp|asr` is one. */
export function conditionsOf(filter: string | undefined): string[] {
  const parts = [''];
  const text = filter ?? '';
  for (let place = 0; place < text.length; place += 1) {
    const char = text[place] ?? '';
    if (char === '\\') {
      parts[parts.length - 1] += char + (text[place + 1] ?? '');
      place += 1;
    } else if (char === ',') parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.filter((part) => part !== '');
}

/** A condition for people: `team: nlp or asr`, `team: unattributed`. */
export function conditionWords(condition: string): string {
  const equals = condition.indexOf('=');
  const told = condition.slice(equals + 1);
  const values = told.split(/(?<!\\)\|/).map((value) => value.replaceAll(/\\(.)/g, '$1'));
  return `${condition.slice(0, equals)}: ${values.map((value) => (value === '' ? 'unattributed' : value)).join(' or ')}`;
}

/** Only what a filter is of, for a heading: `vision, idle`. */
export function filterWords(filter: string): string {
  return conditionsOf(filter)
    .map((condition) => {
      const [, words = ''] = /^[^:]*: (.*)$/s.exec(conditionWords(condition)) ?? [];
      return words === 'unattributed' ? `no ${condition.slice(0, condition.indexOf('='))}` : words;
    })
    .join(', ');
}
