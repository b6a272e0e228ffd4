import type { RuleSuggestion, RuleSuggestions, SharedSuggestion } from '../../report/rules-suggestion.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { candidatesFor } from './candidates.ts';
import type { Candidate } from './candidates.ts';
import { profileMoney } from './profile-money.ts';
import type { ProfileMoney } from './profile-money.ts';

/** Below a thousandth of the money a rule is not worth its line. */
const LEAST_PERMILLE = 1n;

/**
 * Question: which few rules would give most of the unattributed money its team?
 *
 * Evidence is what attributed money says: whose the other work of a user is, of jobs of a name, of machines with a tag; and names that
 * are those of teams. The candidate that catches most goes first, then what catches most of the rest. What stands on bills beside the
 * GPUs and names nobody is proposed as shared.
 *
 * Reads: what `profileMoney` reads.
 */
export async function suggestRules(
  space: ReadSpace,
  window: LedgerWindow,
  { top }: { top: number },
): Promise<RuleSuggestions> {
  const profiles = await profileMoney(space, window);
  const total = sumOf(profiles);
  const least = (total * LEAST_PERMILLE) / 1000n;
  const unowned = profiles.filter(({ team, pool, usdMicros }) => team === null && pool === null && usdMicros > 0n);
  // What a whole bill charges is nobody's in particular, whoever has most on it.
  const ownable = unowned.filter(({ attributes }) => attributes.get('what') !== 'bill');
  const rules = chosen(candidatesFor('team', profiles, ownable), ownable, least, top);
  const caught = new Set(rules.flatMap(({ catches }) => [...catches]));
  const shared = sharedSuggestions(
    unowned.filter((profile) => !caught.has(profile)),
    least,
  );
  const classless = profiles.filter((each) => each.class === null && each.attributes.get('what') === 'job');
  const classes = chosen(candidatesFor('class', profiles, classless), classless, least, top);
  const leftMicros = sumOf(unowned) - sumOf([...caught]) - shared.reduce((sum, { usdMicros }) => sum + usdMicros, 0n);
  return {
    window,
    totalUsdMicros: total,
    unownedUsdMicros: sumOf(unowned),
    leftUsdMicros: leftMicros,
    rules: [...rules, ...classes].map(suggestionOf),
    shared,
  };
}

/** The candidate that catches most of what is left, again and again. */
function chosen(
  candidates: readonly Candidate[],
  wanted: readonly ProfileMoney[],
  least: bigint,
  top: number,
): Candidate[] {
  const left = new Set(wanted);
  const picked: Candidate[] = [];
  while (picked.length < top) {
    let best: Candidate | undefined;
    let bestMicros = least;
    for (const candidate of candidates) {
      const micros = sumOf([...candidate.catches].filter((profile) => left.has(profile)));
      if (micros > bestMicros) [best, bestMicros] = [candidate, micros];
    }
    if (best === undefined) break;
    const fresh = new Set([...best.catches].filter((profile) => left.has(profile)));
    const values = best.values.filter((value) => value.profiles.some((profile) => fresh.has(profile)));
    picked.push({ ...best, values, catches: fresh });
    for (const profile of fresh) left.delete(profile);
  }
  return picked;
}

function suggestionOf(candidate: Candidate): RuleSuggestion {
  return {
    dimension: candidate.dimension,
    value: candidate.value,
    attribute: candidate.attribute,
    patterns: candidate.values.map(({ pattern }) => pattern),
    guards: candidate.guards,
    usdMicros: sumOf([...candidate.catches]),
    evidence: candidate.evidence,
    example: [...candidate.catches][0]?.example ?? '',
  };
}

/**
 * Tax, support, credits and untagged storage serve everybody: each service is a pool, split by what teams cost. So is what nobody
 * used of a commitment whose buyer no tag names.
 */
function sharedSuggestions(rest: readonly ProfileMoney[], least: bigint): SharedSuggestion[] {
  const pools = new Map<string, { profiles: ProfileMoney[]; when: Record<string, string> }>();
  for (const profile of rest) {
    const what = profile.attributes.get('what');
    const service = profile.attributes.get('service');
    const resource = profile.attributes.get('resource_id');
    const isStranded = profile.strandedUsdMicros * 2n >= profile.usdMicros;
    if (what === 'resource' && resource !== undefined && isStranded) {
      add(pools, `unused ${resource}`, { what: 'resource', resource }, profile);
    } else if (profile.gpuUsdMicros * 2n >= profile.usdMicros) {
      continue; // GPUs are somebody's: a rule has to say whose.
    } else if (what === 'bill') add(pools, 'charges of whole bills', { what: 'bill' }, profile);
    else if (what === 'resource' && service !== undefined) {
      add(pools, `untagged ${service}`, { what: 'resource', service, 'tag.team': '' }, profile);
    }
  }
  return [...pools].flatMap(([name, { profiles, when }]) => {
    const usdMicros = sumOf(profiles);
    return usdMicros > least ? [{ name, when, usdMicros, example: profiles[0]?.example ?? '' }] : [];
  });
}

function add(
  pools: Map<string, { profiles: ProfileMoney[]; when: Record<string, string> }>,
  name: string,
  when: Record<string, string>,
  profile: ProfileMoney,
): void {
  const pool = pools.get(name) ?? { profiles: [], when };
  pool.profiles.push(profile);
  pools.set(name, pool);
}

function sumOf(profiles: readonly ProfileMoney[]): bigint {
  return profiles.reduce((sum, { usdMicros }) => sum + usdMicros, 0n);
}
