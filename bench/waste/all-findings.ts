/** Every finding of a data folder with the rows of the ledger it takes, as JSON: `bursar findings --json` tells what users need, and not those. */
import { lookForFindings } from '../../src/app/findings/find-findings.ts';
import { partsOf } from '../../src/app/findings/settle-claims.ts';
import { decideNow } from '../../src/app/now.ts';
import { ledgerWindow } from '../../src/app/window.ts';
import { withReader } from '../../src/app/workspace.ts';

const [dataDir = ''] = process.argv.slice(2);
const { answer, parts, named } = await withReader(dataDir, async (space) => {
  const now = decideNow(undefined, space.scope?.horizon, new Date());
  const request = { window: ledgerWindow('all', now.at, space.scope), now: now.at, keepsNumbers: false };
  const looked = await lookForFindings(space, request);
  const found = new Map<string, Awaited<ReturnType<typeof partsOf>>>();
  for (const { finding, settled } of looked.settled) found.set(finding.key, await partsOf(space, settled.claimNo));
  const claims = new Map(looked.settled.map(({ finding, settled }) => [finding.key, settled.placed.claim.takes]));
  return { answer: looked.answer, parts: found, named: claims };
});
// What a claim was given of the ledger is what a finding says; a question is given nothing and is judged by what it names.
const findings = [...answer.findings, ...answer.hiddenPrice, ...answer.setAside].map((finding) => ({
  ...finding,
  takes:
    finding.kind === 'question'
      ? named.get(finding.key)
      : (parts.get(finding.key) ?? []).flatMap(({ subject, deviceId, day, category, reason, permille }) =>
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
