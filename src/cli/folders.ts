export { DEFAULT_DATA_DIR } from '../report/data-flag.ts';

/** Where a made-up organisation goes. */
export const DEMO_DIR = './bursar-demo';

/** What is looked for in the current folder. */
export const CONFIG_FILE = 'bursar.yaml';
