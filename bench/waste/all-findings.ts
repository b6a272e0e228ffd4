/** Every finding of a data folder with the rows of the ledger it takes, as JSON: `bursar findings --json` tells what users need, and not those. */
import { lookForFindings } from '../../src/app/findings/find-findings.ts';
import { decideNow } from '../../src/app/now.ts';
import { ledgerWindow } from '../../src/app/window.ts';
import { withReader } from '../../src/app/workspace.ts';

const [dataDir = ''] = process.argv.slice(2);
const { answer, settled } = await withReader(dataDir, (space) => {
  const now = decideNow(undefined, space.scope?.horizon, new Date());
  const request = { window: ledgerWindow('all', now.at, space.scope), now: now.at, keepsNumbers: false };
  return lookForFindings(space, request);
});
const partsOf = new Map(settled.map(({ finding, settled: { parts } }) => [finding.key, parts]));
// What a claim was given of the ledger is what a finding says; a question is given nothing and is judged by what it names.
const findings = [...answer.findings, ...answer.hiddenPrice, ...answer.setAside].map((finding) => ({
  ...finding,
  takes:
    finding.kind === 'question'
      ? finding.takes
      : (partsOf.get(finding.key) ?? []).flatMap(({ cell: { subject, deviceId, day, category, reason }, permille }) =>
          deviceId === null
            ? []
            : [
                {
                  subject,
                  deviceId,
                  firstDay: day,
                  lastDay: day,
                  category,
                  ...(reason !== null && { reason }),
                  permille,
                },
              ],
        ),
}));
const text = JSON.stringify({ findings }, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
process.stdout.write(`${text}\n`);
