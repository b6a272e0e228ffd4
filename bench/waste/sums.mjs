/** Does the waterfall come to what was paid, to the micro-dollar? Bills and stated rates are in the truth; `bench:demo` checks that. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { csv } from '../demo/duck.mjs';

const BIN = fileURLToPath(new URL('../../bin/bursar.js', import.meta.url));

/**
 * @typedef {object} Sums
 * @property {bigint} offMicros Σ waterfall less what was paid
 * @property {bigint} checkMicros what `ledger check` finds missing or too much
 * @property {number} faults what else it finds
 */

/** @param {import('../demo/duck.mjs').Duck} duck @param {string} data @returns {Promise<Sums>} */
export async function sumsOf(duck, data) {
  const { paid, told } = await duck.one(`
    SELECT (SELECT CAST(CAST(sum(CAST(usd AS DECIMAL(18, 6))) * 1000000 AS HUGEINT) AS VARCHAR) FROM ${csv(`${data}/files/truth.csv`)}) AS paid,
      (SELECT CAST(sum(usd_micros) AS VARCHAR) FROM '${data}/tables/waterfall/**/*.parquet') AS told`);
  const check = await checkOf(data);
  return {
    offMicros: BigInt(String(told)) - BigInt(String(paid)),
    checkMicros: BigInt(check.differenceUsdMicros),
    faults: check.faults.length,
  };
}

/** What `ledger check` says; that it ends with 1 where something does not add up is part of its answer. @param {string} data @returns {Promise<any>} */
function checkOf(data) {
  return new Promise((done, reject) => {
    const args = [BIN, 'ledger', 'check', '--data', data, '--json'];
    execFile(process.execPath, args, { maxBuffer: 1 << 26 }, (error, stdout) => {
      if (stdout.startsWith('{')) done(JSON.parse(stdout));
      else reject(new Error(`ledger check: ${error?.message}`));
    });
  });
}
