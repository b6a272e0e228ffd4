import { OperationError } from '../../facts/operation-error.ts';
import { addDays, startOf } from '../../lake/calendar.ts';
import type { LedgerWindow } from '../window.ts';

/** More would be no picture and megabytes of text. */
const STEPS_MAX = 750;

/** Where the steps of a window begin, up to the last day the ledger has in it. */
export function stepsOf(window: LedgerWindow, stepSeconds: number): Date[] {
  const last = window.days.at(-1);
  if (last === undefined) return [];
  const dayEnd = startOf(addDays(last, 1)).getTime();
  const end = Math.min(window.until.getTime(), window.cut.find(({ day }) => day === last)?.until.getTime() ?? dayEnd);
  const [from, stepMs] = [window.from.getTime(), stepSeconds * 1000];
  const count = Math.max(0, Math.ceil((end - from) / stepMs));
  if (count > STEPS_MAX) {
    throw new OperationError('bad-step', `${count} steps are more than a page can show`, {
      hint: `Take a longer step or a shorter window: at most ${STEPS_MAX} steps.`,
    });
  }
  return Array.from({ length: count }, (_, place) => new Date(from + place * stepMs));
}
