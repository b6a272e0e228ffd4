import { unmanaged } from './unmanaged.ts';
import { wellRun } from './well-run.ts';
import type { World } from './world-schema.ts';

/** The worlds that come with Bursar. */
export const PRESETS: Readonly<Record<'unmanaged' | 'well-run', World>> = { unmanaged, 'well-run': wellRun };
