import type { StatementAnswer } from '../../report/statement-answer.ts';

/** A whole number among text: a label can be any text, but never a map. */
interface WholeNumber {
  readonly $whole: string;
}

/** A statement's answer as text to keep. */
export function answerText(answer: StatementAnswer): string {
  return JSON.stringify(answer, (_, value: unknown) =>
    typeof value === 'bigint' ? ({ $whole: String(value) } satisfies WholeNumber) : value,
  );
}

/** The answer that was kept. */
export function answerOf(text: string): StatementAnswer {
  return JSON.parse(text, (_, value: unknown) =>
    isWholeNumber(value) ? BigInt(value.$whole) : value,
  ) as StatementAnswer;
}

function isWholeNumber(value: unknown): value is WholeNumber {
  return typeof value === 'object' && value !== null && '$whole' in value && typeof value.$whole === 'string';
}
