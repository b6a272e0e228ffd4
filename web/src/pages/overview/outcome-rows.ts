import { counted } from '../../../../src/report/figures.ts';
import { change, unitUsd } from '../../figures.ts';
import type { OutcomesReply } from '../../../../src/api/routes/spend/outcomes.ts';

export interface OutcomeLine {
  readonly key: string;
  readonly what: string;
  readonly of: string;
  readonly cost: string;
  readonly change: string | null;
  readonly weeks: readonly (number | null)[];
  readonly volume: string;
  readonly paidUsdMicros: string | null;
}

/** Of a model's units the one people compare by; its others say the same money again. */
const PREFERRED = ['token', 'request', 'step'];
const LINES_MAX = 7;
const SIZE_WORDS: Readonly<Record<string, string>> = { 1: '', 1000: 'Thousand ', 1_000_000: 'Million ' };
const UNIT_WORDS: Readonly<Record<string, string>> = {
  token: 'tokens',
  prompt_token: 'prompt tokens',
  generation_token: 'generated tokens',
  request: 'requests',
  inference: 'inferences',
  step: 'steps',
};

/** What a unit of work costs, the dearest work first, one line for each kind of work. */
export function outcomeLines({ rows, runs }: OutcomesReply): OutcomeLine[] {
  const served = rows.filter((row) => row.unit === bestUnit(rows.filter(({ name }) => name === row.name)));
  const lines = [
    ...runs
      .filter(({ finished }) => finished > 0)
      .map((run): OutcomeLine => {
        const each = perUnit(run.costUsdMicros, run.finished);
        const before = run.before === null ? null : perUnit(run.before.costUsdMicros, run.before.finished);
        return {
          key: `run ${run.name ?? ''}`,
          what: 'Finished run',
          of: run.name ?? 'no team',
          cost: unitUsd(each),
          change: change(each, before),
          weeks: [],
          volume: counted(run.finished, 'run'),
          paidUsdMicros: run.costUsdMicros,
        };
      }),
    ...served.map((row): OutcomeLine => ({
      key: `${row.unit} ${row.name ?? ''}`,
      what: pricedUnit(row),
      of: row.name ?? 'no name',
      cost: unitUsd(row.allocationUsdMicrosPer),
      change: change(row.allocationUsdMicrosPer, row.before?.allocationUsdMicrosPer ?? null),
      weeks: row.weeklyUsdMicrosPer.map((micros) => (micros === null ? null : Number(micros))),
      volume: volumeWords(row),
      paidUsdMicros: row.costUsdMicros,
    })),
  ];
  return lines
    .toSorted((a, b) => (BigInt(b.paidUsdMicros ?? '0') > BigInt(a.paidUsdMicros ?? '0') ? 1 : -1))
    .slice(0, LINES_MAX);
}

function bestUnit(rows: OutcomesReply['rows']): string | undefined {
  return PREFERRED.find((unit) => rows.some((row) => row.unit === unit)) ?? rows[0]?.unit;
}

function perUnit(micros: string | null, count: number): string | null {
  return micros === null || count === 0 ? null : String(BigInt(micros) / BigInt(count));
}

interface Volume {
  readonly unit: string;
  readonly per: string;
  readonly quantity: string;
}

/** `Million tokens`, `steps`: what a price is of. */
export function pricedUnit({ unit, per }: Pick<Volume, 'unit' | 'per'>): string {
  return `${SIZE_WORDS[per] ?? `${per} `}${UNIT_WORDS[unit] ?? unit}`;
}

/** `2,601 M tokens`, `113 k requests`, `391 steps`: a bare number beside a price of a thousand would be read as thousands. */
export function volumeWords({ unit, quantity }: Pick<Volume, 'unit' | 'quantity'>): string {
  const value = Number(quantity);
  const words = (scaled: number): string =>
    scaled.toLocaleString('en-US', { maximumFractionDigits: scaled < 1000 ? 1 : 0 });
  const shown = value >= 1e7 ? `${words(value / 1e6)} M` : value >= 1e5 ? `${words(value / 1e3)} k` : words(value);
  return `${shown} ${UNIT_WORDS[unit] ?? unit}`;
}
