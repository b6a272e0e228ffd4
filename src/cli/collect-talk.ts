import type { SourceOutcome } from '../app/collect/collect.ts';
import type { OperationError } from '../facts/operation-error.ts';
import { collectLines } from '../report/collect-report.ts';
import type { Output } from './output.ts';

export interface TurnTeller {
  readonly onTurn: (outcome: SourceOutcome) => void;
  readonly onTrouble: (failure: OperationError) => void;
}

/** One line when a source's state changes, and no line for every quiet round: logs are read by people. */
export function turnTeller(output: Output, now: () => Date): TurnTeller {
  const said = new Map<string, string>();
  return {
    onTurn(outcome) {
      const news = `${outcome.state} ${outcome.record.error?.message ?? ''}`;
      const isNews = said.get(outcome.name) !== news;
      said.set(outcome.name, news);
      if (isNews) for (const line of collectLines([outcome], now())) output.talk(line);
      else output.progress(collectLines([outcome], now())[0] ?? '');
    },
    onTrouble({ message, hint }) {
      output.talk(`${message}; tried again${hint === undefined ? '' : ` (${hint})`}`);
    },
  };
}
