import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Snapshot } from '../../facts/manifest.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { STAGES } from '../../ledger/stages.ts';
import { scopeOf } from '../../lake/scope.ts';
import type { Scope } from '../../lake/scope.ts';
import { staleRows } from '../../lake/staleness.ts';
import { openManifest } from '../../state/manifest.ts';
import type { OpenManifest } from '../../state/manifest.ts';
import type { StateStamp } from '../../state/state-stamp.ts';
import { CONFIG_FILE, findConfig } from '../config/config-file.ts';
import type { Config } from '../config/source-config.ts';

/** The state of the ledger that questions are answered from, and by which configuration. */
export interface Standing {
  readonly dataDir: string;
  readonly snapshot: Snapshot;
  readonly scope: Scope | undefined;
  /** Rows of facts that the ledger does not have yet. */
  readonly staleRows: number;
  readonly config: Config | undefined;
  /** Changes with every edit of the configuration. */
  readonly configStamp: string;
  readonly stamp: StateStamp;
  /** What people and sources say beside the lake, as it is when it is read. */
  readonly stores: Pick<OpenManifest, 'sources' | 'statements' | 'findings' | 'tokens'>;
}

export interface StandingOptions {
  readonly dataDir: string;
  /** Instead of ./bursar.yaml. */
  readonly configPath?: string;
  readonly now: () => Date;
  /** Told what is wrong with an edited bursar.yaml, once for each edit. */
  readonly onTrouble?: (failure: OperationError) => void;
}

/** Follows a data folder and its configuration. */
export interface StandingKeeper {
  /** As things stand now; refused with `no-data` while there is none. */
  current(): Promise<Standing>;
  /** What is wrong with the configuration as it is written now; the last one that was right is in force meanwhile. */
  configTrouble(): OperationError | undefined;
  /** Since when the facts are ahead of the ledger that is in force. */
  behindSince(): Date | undefined;
  close(): void;
}

/**
 * A generation whose ledger is not whole yet is waited for this long: between a batch of facts and the rows that are derived from it, the
 * older state is the right one. Its files are kept for ten minutes after they have been replaced.
 */
const BEHIND_MS_MAX = 240_000;

interface Lake {
  readonly manifest: OpenManifest;
  readonly file: string;
  snapshot: Snapshot;
  scope: Scope | undefined;
  stale: number;
  /** The newest generation that was looked at, in force or not. */
  seen: number;
  behindSince: Date | undefined;
}

interface Written {
  readonly stamp: string;
  readonly config: Config | undefined;
}

export function keepStanding(options: StandingOptions): StandingKeeper {
  const dataDir = resolve(options.dataDir);
  let lake: Lake | undefined;
  let written: Written | undefined;
  let trouble: { readonly stamp: string; readonly failure: OperationError } | undefined;

  const readWritten = async (): Promise<Written> => {
    const stamp = fileStamp(options.configPath ?? CONFIG_FILE);
    if (written !== undefined && (written.stamp === stamp || trouble?.stamp === stamp)) return written;
    try {
      written = { stamp, config: await findConfig(options.configPath) };
      trouble = undefined;
    } catch (failure) {
      if (written === undefined || !(failure instanceof OperationError)) throw failure;
      trouble = { stamp, failure };
      options.onTrouble?.(failure);
    }
    return written;
  };

  const readLake = async (): Promise<Lake> => {
    const file = inodeOf(join(dataDir, 'state.sqlite'));
    if (lake !== undefined && lake.file === file) return lake;
    // Another file under the same name: a demo that was made anew, a folder that was put back from a copy.
    lake?.manifest.close();
    lake = undefined;
    const manifest = await openManifest(dataDir, { readOnly: true, now: options.now });
    lake = { manifest, file, ...newest(manifest), behindSince: undefined };
    return lake;
  };

  const current = async (): Promise<Standing> => {
    const { config, stamp: configStamp } = await readWritten();
    const { manifest } = await readLake();
    // From here on nothing waits: what is handed out belongs together.
    const stamp = manifest.stamp();
    if (lake === undefined) throw new OperationError('stopped', 'the server is stopping');
    advance(lake, stamp, options.now());
    const { snapshot, scope, stale } = lake;
    return {
      dataDir,
      snapshot,
      scope,
      staleRows: stale,
      config,
      configStamp,
      stamp: { ...stamp, generation: snapshot.generation },
      stores: manifest,
    };
  };

  let last: Promise<unknown> = Promise.resolve();
  return {
    current: async () => {
      const turn = last.then(current, current);
      last = turn.catch(() => undefined);
      return turn;
    },
    configTrouble: () => trouble?.failure,
    behindSince: () => lake?.behindSince,
    close() {
      lake?.manifest.close();
      lake = undefined;
    },
  };
}

/** Takes the newest generation into force where its ledger is whole, or has been waited for long enough. */
function advance(lake: Lake, stamp: StateStamp, now: Date): void {
  const isOverdue = lake.behindSince !== undefined && now.getTime() - lake.behindSince.getTime() > BEHIND_MS_MAX;
  if (stamp.generation === lake.seen && !(isOverdue && lake.snapshot.generation !== lake.seen)) return;
  const { snapshot, scope, stale, seen } = newest(lake.manifest);
  lake.seen = seen;
  if (stale > 0 && !isOverdue) {
    lake.behindSince ??= now;
    return;
  }
  lake.snapshot = snapshot;
  lake.scope = scope;
  lake.stale = stale;
  lake.behindSince = stale > 0 ? now : undefined;
}

function newest(manifest: OpenManifest): Pick<Lake, 'snapshot' | 'scope' | 'stale' | 'seen'> {
  const snapshot = manifest.snapshot();
  return { snapshot, scope: scopeOf(snapshot), stale: staleRows(snapshot, STAGES), seen: snapshot.generation };
}

function fileStamp(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '-' : `${found.ino} ${found.size} ${found.mtimeNs}`;
}

function inodeOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '-' : `${found.dev} ${found.ino}`;
}
