import { basename, dirname } from 'node:path';
import { isKnownProvider, providerKey } from '../../facts/provider-name.ts';

const DATE = /(?<!\d)(20\d{2})[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)/;

/** How far above the file names are still about it: `catalogs/v8/aws/vms.csv`. */
const FOLDERS_ABOVE = 2;

/** The file's name and the folders right above it, nearest first. */
function namesOf(path: string): string[] {
  const names = [basename(path)];
  let folder = dirname(path);
  for (let level = 0; level < FOLDERS_ABOVE; level += 1) {
    names.push(basename(folder));
    folder = dirname(folder);
  }
  return names;
}

/** Question: whose prices are in `v8_gcp_vms.csv`, `aws/vms.csv` or `lambda_price_changes.csv.gz`? */
export function providerOfFile(path: string): string | undefined {
  for (const name of namesOf(path)) {
    const skypilot = /^(?:v\d+_)?([a-z0-9-]+)_vms\.csv/i.exec(name)?.[1];
    if (skypilot !== undefined) return providerKey(skypilot);
    const word = name
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .find(isKnownProvider);
    if (word !== undefined) return providerKey(word);
  }
  return undefined;
}

/** Question: which day is a price list of, by its name or its folder's? */
export function dayOfFile(path: string): string | undefined {
  for (const name of namesOf(path)) {
    const [, year, month, day] = DATE.exec(name) ?? [];
    if (year !== undefined && isDay(`${year}-${month}-${day}`)) return `${year}-${month}-${day}`;
  }
  return undefined;
}

function isDay(text: string): boolean {
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}
