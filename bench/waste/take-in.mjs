/** The files of a demo taken in as a user's own would be, where not all of them are meant. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bursar } from '../demo/run.mjs';

/** The words of `bursar import`, in an order in which nothing is asked for before it is there. */
const WORDS = /** @type {const} */ ([
  ['fx', /^fx\./],
  ['nodes', /^nodes\./],
  ['devices', /^devices\./],
  ['rates', /^rates\./],
  ['allocations', /^allocations\./],
  ['waiting', /^waiting\./],
  ['work', /^work\./],
  ['charges', /^bill-(?!.*first-issue)/],
  ['samples', /^(samples-|second-exporter)/],
]);

/** @param {string} data a folder with the files of a demo @param {RegExp} leftOut of the files @returns {Promise<void>} */
export async function takeIn(data, leftOut) {
  const files = join(data, 'files');
  const all = readdirSync(files).filter((name) => !leftOut.test(name));
  for (const [word, pattern] of WORDS) {
    const names = all.filter((name) => pattern.test(name)).map((name) => join(files, name));
    if (names.length > 0) await bursar(['import', word, ...names, '--data', data]);
  }
  await bursar(['derive', '--data', data]);
}
