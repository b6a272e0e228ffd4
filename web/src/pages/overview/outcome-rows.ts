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
const UNIT_WORDS: Readonly<Record<string, string>> = {
  token: 'tokens',
  request: 'requests',
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
          volume: `${run.finished.toLocaleString('en-US')} runs`,
          paidUsdMicros: run.costUsdMicros,
        };
      }),
    ...served.map((row): OutcomeLine => {
      const words = UNIT_WORDS[row.unit] ?? row.unit;
      return {
        key: `${row.unit} ${row.name ?? ''}`,
        what: `${perWords(row.per)}${words}`,
        of: row.name ?? 'no name',
        cost: unitUsd(row.allocationUsdMicrosPer),
        change: change(row.allocationUsdMicrosPer, row.before?.allocationUsdMicrosPer ?? null),
        weeks: row.weeklyUsdMicrosPer.map((micros) => (micros === null ? null : Number(micros))),
        volume: `${volumeWords(row.quantity)} ${words}`,
        paidUsdMicros: row.costUsdMicros,
      };
    }),
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

function perWords(per: string): string {
  return per === '1000000' ? 'Million ' : per === '1000' ? 'Thousand ' : per === '1' ? '' : `${per} `;
}

/** `2,601 M`, `113 k`, `391`. */
function volumeWords(quantity: string): string {
  const value = Number(quantity);
  const words = (scaled: number): string =>
    scaled.toLocaleString('en-US', { maximumFractionDigits: scaled < 1000 ? 1 : 0 });
  if (value >= 1e7) return `${words(value / 1e6)} M`;
  return value >= 1e5 ? `${words(value / 1e3)} k` : words(value);
}
