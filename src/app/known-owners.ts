import type { Snapshot } from '../facts/manifest.ts';
import { nearestName } from '../facts/nearest-name.ts';
import { OperationError } from '../facts/operation-error.ts';
import type { Config } from './config/source-config.ts';
import { jobOwnersSql } from './rules/job-owners.ts';
import { ownerPeriods, ownersSql } from './rules/owners-sql.ts';
import type { RuleBook } from './rules/rule.ts';
import type { ReadSpace } from './workspace.ts';

const NAMES_TOLD = 8;
/** What stands in place of an owner. */
const SHOWN_FOR_NOBODY: ReadonlySet<string> = new Set(['platform', 'platform (no owner)', 'no team']);

export interface TeamAsked {
  /** Undefined where all are asked for. */
  readonly team: string | undefined;
  readonly config: Pick<Config, 'statements'> | undefined;
  /** False where the one who asks sees one team: which others there are is nobody's business then. */
  readonly tellsOthers?: boolean;
}

/**
 * Refuses a team that nobody has: zero for it would be read as "nothing to do". One that had something in any window, that waits, that
 * has a statement or that bursar.yaml names is known.
 */
export async function checkTeam(space: ReadSpace, { team, config, tellsOthers = true }: TeamAsked): Promise<void> {
  if (team === undefined || space.scope === undefined) return;
  if (config?.statements?.teams.has(team) === true || teamsInRules(space.rules).has(team)) return;
  const { teams } = await ownersOf(space);
  if (teams.includes(team)) return;
  if (space.statements.closings().some((closing) => closing.statements.some((each) => each.team === team))) return;
  throw new OperationError('unknown-team', `nothing here belongs to a team "${team}", in no window`, {
    hint: tellsOthers ? hintOf(team, teams) : 'Whoever sees the whole fleet can say how the team is called.',
  });
}

/**
 * Refuses an owner nobody is: whoever misspells a name would be told that there is nothing to do. Known is who or which team has or had
 * something, to whom a finding was given, and how owners are shown: `team / user`.
 */
export async function checkOwner(space: ReadSpace, owner: string | undefined): Promise<void> {
  if (owner === undefined || space.scope === undefined) return;
  const given = space.findings.records().flatMap(({ assignedTo }) => assignedTo ?? []);
  if (given.includes(owner)) return;
  const { teams, users } = await ownersOf(space);
  const known = [...given, ...teams, ...users];
  if (owner.split(' / ').every((part) => known.includes(part) || SHOWN_FOR_NOBODY.has(part))) return;
  const near = nearestName(owner, known);
  throw new OperationError('unknown-owner', `nobody called "${owner}" holds or held anything here`, {
    hint: near === undefined ? 'bursar findings --small shows whose each is.' : `Did you mean ${near}?`,
  });
}

function hintOf(team: string, known: readonly string[]): string {
  if (team === '' || team === 'unattributed') {
    return 'What has no team is asked for with the filter team= (bursar waste --filter team=).';
  }
  const near = nearestName(team, known);
  if (near !== undefined) return `Did you mean ${near}?`;
  const more = known.length > NAMES_TOLD ? ' …' : '';
  return known.length === 0 ? 'No team is known yet.' : `Teams: ${known.slice(0, NAMES_TOLD).join(', ')}${more}.`;
}

function teamsInRules({ rules, aliases, shared }: RuleBook): ReadonlySet<string> {
  const set = rules.map((rule) =>
    rule.set
      .get('team')
      ?.map((part) => ('literal' in part ? part.literal : ''))
      .join(''),
  );
  const renamed = (aliases.get('team') ?? []).flatMap(({ from, to }) => [from, to]);
  const weighed = shared.flatMap(({ split }) => (typeof split === 'string' ? [] : [...split.keys()]));
  return new Set([...set.flatMap((name) => name ?? []), ...renamed, ...weighed]);
}

interface Owners {
  readonly teams: readonly string[];
  readonly users: readonly string[];
}

/** Of a server's pages all ask for the same: kept for as long as their state of the lake is. */
const KEPT = new WeakMap<Snapshot, { readonly rules: RuleBook; readonly owners: Owners }>();

/** Every team and person of the ledger and of who waits, by the rules in force. Reads: profile and waiting, of all days. */
async function ownersOf(space: ReadSpace): Promise<Owners> {
  const { rules, snapshot } = space;
  const kept = KEPT.get(snapshot);
  if (kept?.rules === rules) return kept.owners;
  const { profiles, keep } = ownerPeriods(rules);
  const days = space.scope?.days ?? [];
  const rows = await space.ask<{ team: string | null; user: string | null }>({
    tables: [{ table: 'known_profile', first: days[0] ?? '', last: days.at(-1) ?? '' }, { table: 'waiting' }],
    sql: `
      SELECT DISTINCT team, user_name AS "user" FROM (
        SELECT team, user_name FROM (${ownersSql(rules, profiles('SELECT * FROM known_profile'), keep)}) p
        UNION ALL
        SELECT team, user_name FROM (${jobOwnersSql(rules, 'waiting', 'CAST(submitted_at AS DATE)', ['source'])}) w
      ) named`,
  });
  const names = (of: 'team' | 'user'): string[] => [...new Set(rows.flatMap((row) => row[of] ?? []))].toSorted();
  const owners = { teams: names('team'), users: names('user') };
  KEPT.set(snapshot, { rules, owners });
  return owners;
}
