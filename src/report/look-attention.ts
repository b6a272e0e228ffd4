import { counted, gpuHours } from './figures.ts';
import { shortModel } from './idle-list.ts';
import type { LookAnswer } from './look-screen.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';

type Flaws = Pick<LookAnswer, 'unpriced' | 'unlistedNodes' | 'conflictUnits' | 'notPosted' | 'staleRows' | 'missing'>;

/** Names of nodes given as examples. */
const UNLISTED_SHOWN = 2;

/** One line for each thing that keeps the figures from being whole, with what to do about it. */
export function attention(look: Flaws, dataFlag: string): string[] {
  const lines: string[] = [];
  const noPrice = look.unpriced.filter(({ billedBy }) => billedBy === null);
  if (noPrice.length > 0) {
    // Short names are for reading. A price goes by the whole one: `H100` would price the PCIe cards as well.
    const models = [...new Set(noPrice.map(({ model }) => model))];
    const names = [...new Set(models.map((model) => (model === null ? 'GPUs of unknown model' : shortModel(model))))];
    const rows = models.map((model) => `${csvWord(safeText(model ?? '*'))},USD`).join('\n');
    lines.push(
      `No price: ${gpuHours(sumUnits(noPrice))} of ${names.join(', ')}.` +
        ` Say what an hour costs: ${printed(`model,usd_per_gpu_hour\n${rows}\n`)} | bursar import rates - --batch rates${dataFlag}`,
    );
  }
  const notCharged = look.unpriced.filter(({ billedBy, wantsRateOf }) => billedBy !== null && wantsRateOf === null);
  if (notCharged.length > 0) {
    const bills = [...new Set(notCharged.map(({ billedBy }) => safeText(billedBy ?? '')))].join(', ');
    lines.push(
      `No price: ${gpuHours(sumUnits(notCharged))} on nodes of ${bills} that its bill covers and does not charge.` +
        ` Check their resource_id: bursar import nodes FILE${dataFlag}`,
    );
  }
  if (look.unlistedNodes.length > 0) lines.push(unlistedWords(look, dataFlag));
  if (look.conflictUnits > 0n) {
    lines.push(
      `In two places: ${gpuHours(look.conflictUnits)} are claimed by more holders than fit; they share the money.`,
    );
  }
  const currencies = [...new Set(look.notPosted.map(({ currency }) => safeText(currency)))].sort();
  if (currencies.length > 0) {
    const waiting = sumUnits(look.unpriced.filter(({ wantsRateOf }) => wantsRateOf !== null));
    const hours = waiting === 0n ? '' : `; ${gpuHours(waiting)} have no price without it`;
    lines.push(
      `Not posted: ${counted(look.notPosted.length, 'bill')} in ${currencies.join(', ')}, for want of an exchange rate${hours}.` +
        ` ${printed(`currency,as_of,usd_per_unit\n${csvWord(currencies[0] ?? '')},DATE,USD\n`)} | bursar import fx - --batch fx${dataFlag}`,
    );
  }
  if (look.staleRows > 0) {
    lines.push(`Not in the figures yet: ${counted(look.staleRows, 'new row')} of facts.  → bursar derive${dataFlag}`);
  }
  return [...lines, ...missingWords(look, dataFlag)];
}

function csvWord(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** `printf '…'` of lines. A model may be called anything: whoever pastes this runs nothing but printf. */
function printed(lines: string): string {
  const format = lines.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll('\n', '\\n');
  return `printf ${shellWord(format)}`;
}

function unlistedWords({ unlistedNodes }: Flaws, dataFlag: string): string {
  const names = unlistedNodes.slice(0, UNLISTED_SHOWN).map(({ nodeId }) => safeText(nodeId));
  return (
    `Not in the inventory: ${gpuHours(sumUnits(unlistedNodes))} held on ${counted(unlistedNodes.length, 'node')},` +
    ` e.g. ${names.join(', ')}. If the inventory has these machines under other names, their GPUs count there too, as` +
    ` nobody's: write one name in both files, one node a row.` +
    `  → bursar import allocations FILE${dataFlag} or bursar import nodes FILE${dataFlag}`
  );
}

const MISSING: Readonly<Record<string, string>> = {
  samples: 'what GPUs did is unknown',
  allocations: 'who holds GPUs is unknown, and nothing counts as unallocated',
  nodes: 'a GPU counts from its first sample or holder to its last',
};

function missingWords({ missing }: Flaws, dataFlag: string): string[] {
  return missing.flatMap((word) =>
    MISSING[word] === undefined ? [] : [`No ${word} yet: ${MISSING[word]}.  → bursar import ${word} FILE${dataFlag}`],
  );
}

function sumUnits(times: readonly { readonly gpuUnits: bigint }[]): bigint {
  return times.reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n);
}
