/** Where data goes unless somebody says otherwise. */
export const DEFAULT_DATA_DIR = './bursar-data';

/** Where a made-up organisation goes. */
export const DEMO_DIR = './bursar-demo';

/** What is looked for in the current folder. */
export const CONFIG_FILE = 'bursar.yaml';
