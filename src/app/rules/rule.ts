/** The five things a rule can say about money. */
export const OWNER_DIMENSIONS = ['team', 'project', 'user', 'environment', 'class'] as const;
export type OwnerDimension = (typeof OWNER_DIMENSIONS)[number];

/** The column of `ownership` a dimension is in. */
export function ownerColumn(dimension: OwnerDimension): string {
  return dimension === 'user' ? 'user_name' : dimension;
}

/** Something a rule may ask of a profile: a column of it, or one key of its labels or tags. */
export interface Attribute {
  /** As people write it: `namespace`, `label.app`. */
  readonly name: string;
  readonly column: string;
  readonly key?: string;
}

/** One text a value is compared with. An empty exact text is met by what is not there. */
export interface Pattern {
  readonly kind: 'exact' | 'glob' | 'regex';
  readonly isNegated: boolean;
  /** As written; of a regex what stands between its slashes. */
  readonly text: string;
}

/** Met where any of the plain patterns is and none of the negated ones. */
export interface Condition {
  readonly attribute: Attribute;
  readonly patterns: readonly Pattern[];
}

/** A piece of a value: a text, what an attribute holds, or a group of the rule's first regex. */
export type ValuePart =
  | { readonly literal: string }
  | { readonly attribute: Attribute }
  | { readonly group: number; readonly of: Attribute; readonly regex: string };

/** What a dimension is set to; null says that it is nobody's. */
export type RuleValue = readonly ValuePart[] | null;

export interface Rule {
  /** `rule 3: namespace nlp-*`. */
  readonly title: string;
  readonly when: readonly Condition[];
  /** Days it holds on: from the first, to before the second; `2026-10-01`. */
  readonly from?: string;
  readonly until?: string;
  readonly set: ReadonlyMap<OwnerDimension, RuleValue>;
}

/** Another name for the same, from a day on. */
export interface Alias {
  readonly from: string;
  readonly to: string;
  readonly since?: string;
}

/** By what the money of a pool is split over teams. */
export type SplitKey = 'gpu-hours' | 'cost' | 'even' | ReadonlyMap<string, number>;

/** Money that serves several teams. */
export interface SharedPool {
  readonly name: string;
  readonly when: readonly Condition[];
  readonly from?: string;
  readonly until?: string;
  readonly split: SplitKey;
}

/** All that bursar.yaml says about whose money is whose. */
export interface RuleBook {
  readonly rules: readonly Rule[];
  readonly aliases: ReadonlyMap<OwnerDimension, readonly Alias[]>;
  readonly shared: readonly SharedPool[];
}

/** Without a word in bursar.yaml: labels, accounts and namespaces speak for themselves. */
export const NO_RULES: RuleBook = { rules: [], aliases: new Map(), shared: [] };

/** `gpu-hours`, or `nlp 40, vision 60`. */
export function splitText(split: SplitKey): string {
  return typeof split === 'string' ? split : [...split].map(([team, weight]) => `${team} ${weight}`).join(', ');
}
