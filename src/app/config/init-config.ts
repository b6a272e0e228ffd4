import { writeFile } from 'node:fs/promises';
import { OperationError } from '../../facts/operation-error.ts';
import { CONFIG_FILE } from './config-file.ts';
import { printConfig } from './print-config.ts';
import type { SourceToKeep } from './print-config.ts';

export interface InitRequest {
  readonly sources: readonly SourceToKeep[];
  readonly data: string;
  /** Where to write; bursar.yaml in this folder where undefined. */
  readonly path?: string;
  readonly force: boolean;
}

/** Keeps what was found; what somebody wrote is only replaced when told to. */
export async function initConfig({ sources, data, path = CONFIG_FILE, force }: InitRequest): Promise<string> {
  const text = printConfig(sources, data);
  try {
    await writeFile(path, text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (code === 'EEXIST') {
      throw new OperationError('config-exists', `${path} is there already and stays as it is`, {
        hint: 'bursar init --force replaces it; bursar doctor says how its sources are.',
        cause,
      });
    }
    throw new OperationError('not-written', `${path} cannot be written: ${code || String(cause)}`, {
      hint: 'Go to a folder you may write to, or give another file: --config FILE.',
      cause,
    });
  }
  return path;
}
