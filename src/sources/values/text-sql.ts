import type { Column } from '../../facts/column.ts';
import type { Cell, ParsedColumn } from './parsed-column.ts';
import { isText } from './parsed-column.ts';
import { literal, noneOf } from './sql-text.ts';

/** Reads text; where only some words are allowed, `NODE_FAIL` and `On Demand` are `node-fail` and `on-demand`. */
export function parseText(cell: Cell, column: Column): ParsedColumn {
  const { ref, type, stats } = cell;
  const value = isText(type) ? ref : `CAST(${ref} AS VARCHAR)`;
  if (column.oneOf !== undefined) return parseWord(ref, value, column.oneOf);
  if (column.name === 'currency') return { helpers: [], value: `upper(${value})` };
  if (isText(type) && stats?.nulls === 0 && stats.min !== '') return { helpers: [], value, known: true };
  return { helpers: [], value };
}

function parseWord(ref: string, text: string, words: readonly string[]): ParsedColumn {
  const word = `${ref}_word`;
  // Slurm writes who cancelled a job into its state.
  const plain = `regexp_replace(replace(replace(lower(${text}), '_', '-'), ' ', '-'), '^cancelled-by-.*$', 'cancelled')`;
  return {
    helpers: [[word, plain]],
    value: word,
    problem: `CASE WHEN ${noneOf(word, words)}
      THEN ${literal(`is none of ${words.join(', ')}`)} END`,
  };
}
