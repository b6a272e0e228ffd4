import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Source } from '../facts/source.ts';
import { OperationError } from '../facts/operation-error.ts';
import type { DoctorReport, PlaceHealth } from '../report/doctor-page.ts';
import { counted } from '../report/figures.ts';
import { checkSources } from './check-sources.ts';
import { folderState } from './first-look/first-look.ts';

export interface DoctorRequest {
  readonly sources: readonly Source[];
  readonly dataDir: string;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly limitMs?: number;
  /** Addresses of servers whose clock can be compared with ours. */
  readonly clocks: readonly string[];
  readonly fetch: typeof fetch;
}

const FREE_BYTES_LOW = 2 * 1024 ** 3;
const SKEW_MAX_S = 60;
const CLOCK_MS = 3000;

/** Question: does everything work that answers rest on, and what is to be done about what does not? */
export async function doctor(request: DoctorRequest): Promise<DoctorReport> {
  const [checked, folder, disk, clock] = await Promise.all([
    checkSources(request.sources, request.signal, request.limitMs),
    folderHealth(request),
    diskHealth(request.dataDir),
    clockHealth(request),
  ]);
  return {
    sources: checked.map(({ source: { name, kind, reads }, health, tookMs }) => ({
      name,
      kind,
      reads,
      health,
      tookMs,
    })),
    places: [folder, disk, clock],
  };
}

async function folderHealth({ dataDir, now }: DoctorRequest): Promise<PlaceHealth> {
  const what = 'data folder';
  try {
    const { batches, records } = await folderState(dataDir);
    if (batches.length === 0) return { what, state: 'ok', says: `${dataDir}: nothing in it yet` };
    const newest = batches
      .flatMap(({ newestAt }) => newestAt ?? [])
      .toSorted()
      .at(-1);
    const newestAt = newest === undefined ? undefined : new Date(`${newest.replace(' ', 'T')}Z`);
    const says = `${dataDir}: ${counted(records.length, 'source')} collected, newest fact ${newest === undefined ? 'without a time' : `${newest} UTC`}`;
    if (newestAt !== undefined && newestAt.getTime() > now.getTime() + 15 * 60_000) {
      const todo = 'Facts lie in the future of this machine: check its clock (timedatectl).';
      return { what, state: 'attention', says, todo };
    }
    return { what, state: 'ok', says };
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    const todo = failure.hint === undefined ? {} : { todo: failure.hint };
    return { what, state: 'wrong', says: failure.message, ...todo };
  }
}

/** Of the folder, or of the nearest one above it that is there. */
async function diskHealth(dataDir: string): Promise<PlaceHealth> {
  const what = 'disk';
  for (let path = resolve(dataDir); ; path = dirname(path)) {
    try {
      const { bavail, bsize } = await statfs(path);
      const free = bavail * bsize;
      const says = `${(free / 1024 ** 3).toFixed(1)} GiB free in ${path}`;
      if (free >= FREE_BYTES_LOW) return { what, state: 'ok', says };
      return { what, state: 'attention', says, todo: 'Make room, or give another folder: --data DIR.' };
    } catch (failure) {
      if (dirname(path) === path) return { what, state: 'attention', says: `cannot be asked: ${String(failure)}` };
    }
  }
}

/** Ours against that of the servers we read: samples carry their time, holdings ours. */
async function clockHealth({ clocks, now, fetch: ask }: DoctorRequest): Promise<PlaceHealth> {
  const what = 'clock';
  const offsets = await Promise.all(clocks.map((url) => clockOffset(url, ask)));
  const known = offsets.filter((each) => each !== undefined);
  if (known.length === 0) {
    return { what, state: 'ok', says: `${now.toISOString().slice(0, 16)}Z; no server to compare it with` };
  }
  const worst = known.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0] ?? 0;
  const says = `${Math.abs(Math.round(worst))} s ${worst < 0 ? 'behind' : 'ahead of'} the servers it reads`;
  if (Math.abs(worst) <= SKEW_MAX_S) return { what, state: 'ok', says: 'agrees with the servers it reads' };
  return { what, state: 'attention', says, todo: 'Set the clock by NTP: timedatectl set-ntp true' };
}

/** How many seconds our clock is ahead of a server's; undefined where that cannot be told. */
async function clockOffset(url: string, ask: typeof fetch): Promise<number | undefined> {
  try {
    const target = new URL(url);
    target.username = '';
    target.password = '';
    const sentMs = Date.now();
    const response = await ask(target, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(CLOCK_MS) });
    await response.body?.cancel();
    const date = Date.parse(response.headers.get('date') ?? '');
    // The header has whole seconds: its middle is the best guess.
    return Number.isNaN(date) ? undefined : ((sentMs + Date.now()) / 2 - (date + 500)) / 1000;
  } catch {
    // The server's own check says what is wrong with it.
    return undefined;
  }
}
