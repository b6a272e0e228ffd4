import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Everything `discover` looks at, so that a test can give it another machine. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** Where a Prometheus usually is when nobody says. */
  readonly usualPrometheusUrls: readonly string[];
  /** Where a pod finds the token of its service account. */
  readonly serviceAccountDir: string;
  readonly fetch: typeof fetch;
}

export function thisMachine(): Surroundings {
  return {
    env: process.env,
    homeDir: homedir(),
    usualPrometheusUrls: ['http://localhost:9090'],
    serviceAccountDir: '/var/run/secrets/kubernetes.io/serviceaccount',
    fetch,
  };
}

/** Where a program is that this user may run; undefined where PATH has none. */
export function programInPath(name: string, env: Surroundings['env']): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for this user: either way it is none.
    return false;
  }
}

const SETTINGS_BYTES_MAX = 1_000_000;

/** The text of a settings file of another tool; undefined where there is none to read. */
export function settingsText(path: string): string | undefined {
  try {
    return statSync(path).size > SETTINGS_BYTES_MAX ? undefined : readFileSync(path, 'utf8');
  } catch {
    // What cannot be read is not found; the tool itself will say why when it is asked for.
    return undefined;
  }
}
