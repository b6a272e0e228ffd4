/** Where data goes unless somebody says otherwise. */
export const DEFAULT_DATA_DIR = './bursar-data';

/** What is looked for in the current folder. */
export const CONFIG_FILE = 'bursar.yaml';
