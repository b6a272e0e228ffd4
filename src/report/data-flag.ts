import { shellWord } from './shell-word.ts';

/** Where data goes unless somebody says otherwise. */
export const DEFAULT_DATA_DIR = './bursar-data';

/** ` --data DIR` for commands we tell people to type, where it is not the default. */
export function dataFlag(dataDir: string): string {
  return dataDir === DEFAULT_DATA_DIR ? '' : ` --data ${shellWord(dataDir)}`;
}
