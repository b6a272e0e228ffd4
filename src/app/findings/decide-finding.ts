import type { FindingChange, FindingRecord, FindingWish } from '../../facts/finding-record.ts';
import { clockOf } from '../demo/demo-mark.ts';
import { decideNow } from '../now.ts';
import { ledgerWindow } from '../window.ts';
import type { AtDesk, Desk, Sized } from '../serve/desk.ts';
import type { StandingKeeper } from '../serve/standing.ts';
import { changeFinding, noSuchFinding, oneFinding, refusePart } from './one-finding.ts';

export interface Decision {
  readonly change: FindingWish['change'];
  readonly by: string;
  readonly reason?: string;
  readonly until?: string;
  readonly to?: string;
  /** What the one who decides saw: refused where somebody has said something else meanwhile. */
  readonly seen?: FindingRecord['state'];
  readonly seenAssignedTo?: string | null;
  /** Only a finding of this team, as it is claimed in `window`. */
  readonly team?: string;
  readonly window?: string;
}

/** What a decision is made with: the folder, what is kept beside the lake, and a turn at the desk where the ledger has to be asked. */
export interface DecidingParts {
  readonly dataDir: string;
  readonly standing: Pick<StandingKeeper, 'current'>;
  readonly desk: Pick<Desk<Sized>, 'look'>;
}

const USUAL_WINDOW = '30d';

/**
 * Keeps what somebody said of a finding, as `bursar finding F-12 accept` does; nothing of the fleet changes.
 *
 * The ledger is asked only where one team decides: whether it is that team's, and nobody else's.
 */
export async function decideFinding(
  { dataDir, standing, desk }: DecidingParts,
  number: number,
  { team, window = USUAL_WINDOW, ...decision }: Decision,
): Promise<{ readonly record: FindingRecord; readonly history: readonly FindingChange[] }> {
  const state = await standing.current();
  const clock = clockOf(state);
  const now = decideNow(undefined, state.scope?.horizon, clock).at;
  if (!state.stores.findings.records().some((each) => each.number === number)) throw noSuchFinding(number);
  if (team !== undefined) await desk.look('decideFinding', async (at) => checkTeam(at, number, team, window));
  const record = await changeFinding(dataDir, number, { ...decision, now, at: clock });
  return { record, history: (await standing.current()).stores.findings.history(number) };
}

async function checkTeam({ space, now }: AtDesk, number: number, team: string, window: string): Promise<void> {
  const { now: found } = await oneFinding(space, number, {
    window: ledgerWindow(window, now.at, space.scope),
    now: now.at,
    team,
    keepsNumbers: false,
  });
  if (found !== undefined) refusePart(found, team);
}
