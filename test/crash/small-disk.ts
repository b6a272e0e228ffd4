import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk in memory whose size can be chosen. */
export interface SmallDisk {
  readonly folder: string;
  resize(megabytes: number): void;
  setReadOnly(isReadOnly: boolean): void;
  /** Fills the disk up to this many bytes. */
  leave(bytes: number): void;
  empty(): void;
  remove(): void;
}

/** What went wrong, or nothing. */
function complaintOf(program: 'mount' | 'umount', ...args: string[]): string | undefined {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? undefined : `${program} ${args.join(' ')}: ${error?.message ?? stderr}`;
}

function mount(...args: string[]): void {
  const complaint = complaintOf('mount', ...args);
  if (complaint !== undefined) throw new Error(complaint);
}

/** True where this process may mount: on Linux, as root, outside of most containers. */
export function mayMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'bursar-mount-'));
  const isMounted = complaintOf('mount', '-t', 'tmpfs', 'tmpfs', folder) === undefined;
  if (isMounted) complaintOf('umount', folder);
  rmSync(folder, { recursive: true });
  return isMounted;
}

export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-disk-'));
  mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder);
  const ballast = join(folder, 'ballast');
  return {
    folder,
    resize: (size) => mount('-o', `remount,size=${size}m`, folder),
    setReadOnly: (isReadOnly) => mount('-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, folder),
    leave(bytes) {
      rmSync(ballast, { force: true });
      const { bavail, bsize } = statfsSync(folder);
      const file = openSync(ballast, 'w');
      for (let left = bavail - Math.floor(bytes / bsize); left > 0; left -= 1) writeSync(file, Buffer.alloc(bsize));
      closeSync(file);
    },
    empty: () => rmSync(ballast, { force: true }),
    remove() {
      // Lazily, so that a handle somebody still has does not keep the folder from going.
      complaintOf('umount', '-l', folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
