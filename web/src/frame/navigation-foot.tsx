import { useAnswer } from '../ask.ts';
import { day } from '../figures.ts';
import type { StatusReply } from '../../../src/api/routes/sources/status.ts';
import { signOut, useSession } from './session.ts';
import type { Session } from './session.ts';
import { useSettings } from './settings.ts';

/** What the figures are of, who looks, and how it looks; the last is kept in this browser only. */
export function NavigationFoot() {
  const { theme, density, setTheme, setDensity } = useSettings();
  const status = useAnswer<StatusReply>('/status').data?.data;
  const session = useSession();
  return (
    <div className="nav-foot">
      {status === undefined ? null : <FleetLines status={status} />}
      {session === undefined ? null : <SessionLine session={session} />}
      <label>
        Theme
        <select value={theme} onChange={(event) => setTheme(event.target.value)}>
          <option value="system">as the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <label>
        Rows
        <select value={density} onChange={(event) => setDensity(event.target.value)}>
          <option value="compact">compact</option>
          <option value="roomy">roomy</option>
        </select>
      </label>
    </div>
  );
}

function FleetLines({
  status: { isDemo, gpus, clusters, billedUntil, newestFactAt },
}: {
  readonly status: StatusReply;
}) {
  const many = (count: number, word: string): string =>
    `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`;
  return (
    <>
      {isDemo ? <p className="strong">Made-up data</p> : null}
      <p>
        {many(gpus, 'GPU')} in {many(clusters, 'cluster')}
      </p>
      <p>{newestFactAt === null ? 'No facts yet' : `Facts to ${day(Date.parse(newestFactAt) - 1)}`}</p>
      <p>{billedUntil === null ? 'No bill yet' : `Billed to ${day(Date.parse(billedUntil) - 1)}`}</p>
    </>
  );
}

function SessionLine({ session: { name, role, team, signedIn } }: { readonly session: Session }) {
  if (!signedIn) return <p>{name}, no sign-in</p>;
  return (
    <p>
      {name}, {role}
      {team === null ? '' : ` of ${team}`}{' '}
      <button className="link" onClick={() => void signOut()}>
        sign out
      </button>
    </p>
  );
}
