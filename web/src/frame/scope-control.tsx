import { useAddress } from '../address.ts';
import { useAnswer } from '../ask.ts';
import { cut } from '../figures.ts';
import type { DimensionValuesReply } from '../../../src/api/routes/spend/dimensions.ts';
import { useSession } from './session.ts';

/** Whose money the page is about: everybody's, or one team's. Who sees one team has no choice, and is told. */
export function ScopeControl() {
  const { words, change } = useAddress();
  const session = useSession();
  const own = session?.team ?? null;
  const asked = words['team'];
  const answer = useAnswer<DimensionValuesReply>(
    '/dimensions/team',
    { asOf: words['asOf'] },
    { enabled: session !== undefined && own === null },
  );
  if (session === undefined) return null;
  if (own !== null) return <span className="muted head-note">scope: team {cut(own, 20)}</span>;
  const teams = (answer.data?.data.values ?? []).flatMap(({ value }) => value ?? []);
  const listed = [...new Set([...teams, ...(asked === undefined ? [] : [asked])])].toSorted();
  return (
    <label className="control">
      scope
      <select
        className="bare"
        aria-label="Scope"
        value={asked ?? ''}
        onChange={(event) => change({ team: event.target.value === '' ? undefined : event.target.value })}
      >
        <option value="">everybody</option>
        {listed.map((team) => (
          <option key={team} value={team}>
            {cut(team, 24)}
          </option>
        ))}
      </select>
    </label>
  );
}
