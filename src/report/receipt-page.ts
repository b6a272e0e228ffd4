import { dollars, dollarsOf, duration, gpuSeconds, isoTime, minute, percentsOf } from './figures.ts';
import { shortModel } from './idle-list.ts';
import type { JobAnswer } from './job-page.ts';
import { shortNames } from './job-page.ts';
import { markdownText } from './markdown-text.ts';
import { unitUsdMicros } from './outcomes-answer.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import { perWords, quantityText, unitPrice, unitWords, volume } from './unit-figures.ts';

/** What a researcher sees when a job ends. */
export interface Receipt {
  readonly job: JobAnswer;
  /** First and last second held, over all its lives. */
  readonly from: Date;
  readonly until: Date;
  readonly isRunning: boolean;
  /** All its money, also what stands beside its GPUs; null where nothing of it has a price. */
  readonly usdMicros: bigint | null;
  readonly components: readonly { readonly component: string; readonly usdMicros: bigint | null }[];
  readonly basisUsdMicros: Readonly<Record<string, bigint>>;
  readonly idleUsdMicros: bigint | null;
  /** Held while it worked, and waited for its host or the other GPUs. */
  readonly starvedUsdMicros: bigint | null;
  /** Of work that came to nothing. */
  readonly lostUsdMicros: bigint | null;
  readonly kind: { readonly others: number; readonly medianUsdMicros: bigint } | undefined;
  readonly work: readonly { readonly unit: string; readonly quantityMillionths: bigint }[];
}

export type ReceiptStyle = 'plain' | 'slack' | 'markdown';

const COMPONENT_WORDS: Readonly<Record<string, string>> = { gpu: 'GPU', transfer: 'egress' };
const BASIS_WORDS: Readonly<Record<string, string>> = {
  billed: 'billed',
  rate: 'by stated rates',
  estimated: 'estimated, not billed',
};
const NAMES_SHOWN = 3;
const UNITS_SHOWN = 3;

/** The receipt: one line to read, and at most four that say what it rests on. */
export function receiptLines(receipt: Receipt, style: ReceiptStyle = 'plain', dataFlag = ''): string[] {
  const { job } = receipt;
  const lines = [moneyLine(receipt), wasteLine(receipt), workLine(receipt), basisLine(receipt, dataFlag)];
  const shown = lines.filter((line) => line !== undefined);
  const id = escaped(job.allocationId, style);
  const title = style === 'slack' ? `*run ${id}*` : style === 'markdown' ? `**run ${id}**` : `run ${id}`;
  const name = job.name === null ? '' : ` (${escaped(job.name, style)})`;
  const first = `${title}${name}: ${headWords(receipt, style)}`;
  if (style === 'plain') return [first, ...shown.map((line) => `  ${line}`)];
  const bullet = style === 'slack' ? '• ' : '- ';
  return [first, ...(style === 'markdown' ? [''] : []), ...shown.map((line) => `${bullet}${escaped(line, style)}`)];
}

function headWords(receipt: Receipt, style: ReceiptStyle): string {
  const { job, kind, usdMicros } = receipt;
  const seconds = job.attempts.reduce(
    (sum, { heldFrom, heldUntil }) => sum + ((heldUntil ?? job.asOf).getTime() - heldFrom.getTime()) / 1000,
    0,
  );
  const gpus = job.attempts.at(-1)?.gpus ?? 0;
  const models = [...new Set(job.devices.flatMap(({ model }) => model ?? []))].map(shortModel);
  const held = gpus === 0 ? 'no GPU' : `${gpus}×${models.length === 0 ? 'GPU' : escaped(models.join('/'), style)}`;
  const outcome = job.attempts.at(-1)?.outcome;
  const ended =
    outcome === null || outcome === undefined || outcome === 'completed' ? '' : `${escaped(outcome, style)}; `;
  const usual =
    kind === undefined
      ? 'no usual cost is known'
      : `median of its kind ${dollars(kind.medianUsdMicros)} (n=${kind.others})`;
  const soFar = receipt.isRunning ? ' so far' : '';
  return `${hoursText(seconds)}, ${held}, ${dollars(usdMicros)}${soFar}; ${receipt.isRunning ? '' : ended}${computedWords(job)}; ${usual}`;
}

/** `61 h`, below ten hours `3 h 10 m`. */
function hoursText(seconds: number): string {
  return seconds >= 36_000 ? `${Math.round(seconds / 3600)} h` : duration(seconds);
}

/** Computing ÷ known, in GPU time; what is unknown stands beside it. */
function computedWords(job: JobAnswer): string {
  const units = (category: string): bigint => job.categories.find((each) => each.category === category)?.gpuUnits ?? 0n;
  const [computing, unknown] = [units('computing'), units('unknown')];
  const wasted = units('idle') + units('starved') + units('lost');
  if (computing + wasted === 0n) return unknown === 0n ? 'it held no GPU' : 'what it computed is unknown';
  const [share = ''] = percentsOf([computing, wasted]);
  const [, dark = ''] = percentsOf([computing + wasted, unknown]);
  return unknown === 0n ? `${share} computed` : `${share} of what is known computed (${dark} unknown)`;
}

/** What was idle and where, what starved, what came to nothing. */
function wasteLine(receipt: Receipt): string | undefined {
  const units = (category: string): bigint =>
    receipt.job.categories.find((each) => each.category === category)?.gpuUnits ?? 0n;
  const amount = (micros: bigint | null): string => (micros === null ? '' : ` ${dollars(micros)}`);
  const words = [
    idleLine(receipt) ?? '',
    units('starved') === 0n ? '' : `starved${amount(receipt.starvedUsdMicros)}, waiting for its host or other GPUs`,
    units('lost') === 0n ? '' : `lost${amount(receipt.lostUsdMicros)}, done and not kept`,
  ].filter((word) => word !== '');
  return words.length === 0 ? undefined : words.join('; ');
}

function moneyLine({ components, job }: Receipt): string | undefined {
  const priced = components.filter(({ usdMicros }) => usdMicros !== null && usdMicros !== 0n);
  const lives = job.attempts.length > 1 ? `; ${job.attempts.length} lives, all of them in it` : '';
  if (priced.length === 0) return undefined;
  const { parts } = dollarsOf(priced.map(({ usdMicros }) => usdMicros));
  const told = priced.map(({ component }, place) => `${COMPONENT_WORDS[component] ?? component} ${parts[place] ?? ''}`);
  return `${told.join(', ')}${lives}`;
}

/** Where the idle time was: on a few of the GPUs, or on all of them. */
function idleLine({ job, idleUsdMicros }: Receipt): string | undefined {
  const idle = job.devices.reduce((sum, { idleUnits }) => sum + idleUnits, 0n);
  if (idle === 0n) return undefined;
  // What stands beside the GPUs has money and no time.
  const held = job.devices.filter(
    (each) => each.computingUnits + each.idleUnits + each.starvedUnits + each.lostUnits + each.unknownUnits > 0n,
  );
  const ordered = held.toSorted((a, b) => Number(b.idleUnits - a.idleUnits));
  let [most, sum] = [0, 0n];
  while (sum * 3n < idle * 2n) sum += ordered[most++]?.idleUnits ?? idle;
  const amount = idleUsdMicros === null ? '' : ` ${dollars(idleUsdMicros)}`;
  const total = held.length;
  if (total === 1) return `idle${amount}`;
  if (most * 2 > total) return `idle${amount}, spread over its ${total} GPUs`;
  const names = shortNames(ordered.slice(0, most).map(({ deviceId }) => safeText(deviceId))).slice(0, NAMES_SHOWN);
  const more = most > NAMES_SHOWN ? ', …' : '';
  const [share = ''] = percentsOf([sum, idle - sum]);
  return `idle${amount}, ${share} of it on ${most} of ${total} GPUs: ${names.join(', ')}${more}`;
}

function workLine({ work, usdMicros }: Receipt): string | undefined {
  if (work.length === 0) return undefined;
  const told = work.slice(0, UNITS_SHOWN).map(({ unit, quantityMillionths }) => {
    const per = perOf(usdMicros, quantityMillionths);
    const price = unitUsdMicros(usdMicros, quantityMillionths, per);
    const done = `${volume(quantityMillionths, 1n)} ${unitWords(unit, 1n)}`;
    return price === null ? done : `${done}, ${unitPrice(price)} per ${perWords(unit, per)}`;
  });
  return told.join('; ');
}

/** A price below a cent is told of a thousand or a million. */
function perOf(usdMicros: bigint | null, quantityMillionths: bigint): bigint {
  const isReadable = (per: bigint): boolean =>
    (unitUsdMicros(usdMicros, quantityMillionths, per) ?? 10_000n) >= 10_000n;
  return [1n, 1000n].find(isReadable) ?? 1_000_000n;
}

function basisLine({ job, basisUsdMicros, from, until, isRunning }: Receipt, dataFlag: string): string {
  const bases = Object.entries(basisUsdMicros).filter(([, micros]) => micros !== 0n);
  const { parts } = dollarsOf(bases.map(([, micros]) => micros));
  const words = bases.map(([basis], place) =>
    bases.length === 1 ? (BASIS_WORDS[basis] ?? basis) : `${parts[place] ?? ''} ${BASIS_WORDS[basis] ?? basis}`,
  );
  const known = job.categories.reduce(
    (sum, { category, gpuUnits }) => sum + (category === 'unknown' ? 0n : gpuUnits),
    0n,
  );
  const all = job.categories.reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n);
  const [share = ''] = percentsOf([known, all - known]);
  const facts = [
    words.length === 0 ? 'no price: bursar import rates FILE' : words.join(', '),
    all === 0n ? '' : `${share} of its GPU time known`,
    `${minute(from)} to ${minute(until)} UTC${isRunning ? ', still running' : ''}`,
    `bursar receipt ${shellWord(job.allocationId)}${dataFlag}`,
  ];
  return facts.filter((fact) => fact !== '').join('; ');
}

/** Slack has no escape for its marks: a name that has one stands in code, where none counts. */
function slackText(safe: string): string {
  const text = safe.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return /[*_~`]/.test(text) ? `\`${text.replaceAll('`', "'")}\`` : text;
}

/** Names are data wherever they are pasted: neither a mention nor markup. */
function escaped(text: string, style: ReceiptStyle): string {
  const safe = safeText(text);
  if (style === 'slack') return slackText(safe);
  return style === 'markdown' ? markdownText(text) : safe;
}

export function receiptJson(receipt: Receipt): unknown {
  const { job, kind } = receipt;
  const units = (category: string): bigint => job.categories.find((each) => each.category === category)?.gpuUnits ?? 0n;
  const text = (micros: bigint | null): string | null => (micros === null ? null : String(micros));
  return {
    asOf: isoTime(job.asOf),
    source: job.source,
    allocationId: job.allocationId,
    job: job.name,
    user: job.user,
    team: job.team,
    from: isoTime(receipt.from),
    until: isoTime(receipt.until),
    isRunning: receipt.isRunning,
    outcome: job.attempts.at(-1)?.outcome ?? null,
    lives: job.attempts.length,
    gpus: job.attempts.at(-1)?.gpus ?? 0,
    costUsdMicros: text(receipt.usdMicros),
    components: Object.fromEntries(receipt.components.map(({ component, usdMicros }) => [component, text(usdMicros)])),
    basisUsdMicros: Object.fromEntries(
      Object.entries(receipt.basisUsdMicros).map(([name, micros]) => [name, String(micros)]),
    ),
    computingSeconds: gpuSeconds(units('computing')),
    idleSeconds: gpuSeconds(units('idle')),
    starvedSeconds: gpuSeconds(units('starved')),
    lostSeconds: gpuSeconds(units('lost')),
    unknownSeconds: gpuSeconds(units('unknown')),
    unpricedSeconds: gpuSeconds(job.unpricedUnits),
    idleUsdMicros: text(receipt.idleUsdMicros),
    starvedUsdMicros: text(receipt.starvedUsdMicros),
    lostUsdMicros: text(receipt.lostUsdMicros),
    kind: kind === undefined ? null : { others: kind.others, medianUsdMicros: String(kind.medianUsdMicros) },
    work: receipt.work.map(({ unit, quantityMillionths }) => ({
      unit,
      quantity: quantityText(quantityMillionths),
      usdMicrosPerMillion: text(unitUsdMicros(receipt.usdMicros, quantityMillionths, 1_000_000n)),
    })),
  };
}
