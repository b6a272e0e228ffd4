import { syntaxNodes, textLiterals } from './syntax.ts';
import { isTest, isTypeScript, lineAt, type Rule } from './tree.ts';

/** One SQL text runs on DuckDB and on Trino. Each of these means something else on one of them, or nothing. */
const NOT_PORTABLE: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bQUALIFY\b/i, 'QUALIFY: filter a subquery with row_number()'],
  [/\bASOF\b/i, 'ASOF: a range join'],
  [/\b(GROUP|ORDER)\s+BY\s+ALL\b/i, 'BY ALL: name the columns'],
  [/::/, '::  CAST(x AS type)'],
  [/==/, '==  one = is enough'],
  [/\/\//, '//  is a DOUBLE for DECIMAL: CAST((a - a % b) / b AS BIGINT)'],
  [/\b(list(_\w+)?|string_agg|listagg|cardinality|element_at)\s*\(/i, 'list functions: a join, or array_agg'],
  [/\bTIMESTAMPTZ\b|\bWITH\s+TIME\s+ZONE\b|\bAT\s+TIME\s+ZONE\b/i, 'time zones: TIMESTAMP is UTC'],
  [/\b(HUGEINT|UHUGEINT|UBIGINT|UINTEGER|UUID|TIMESTAMP_NS)\b/i, 'a type only one engine has'],
  [/\b(SELECT|,)\s*(\w+\.)?\*\s*(EXCLUDE|REPLACE)\b|\bEXCLUDE\s*\(|\bCOLUMNS\s*\(/i, 'EXCLUDE: name the columns'],
  [/\b(greatest|least)\s*\(/i, 'greatest, least: CASE, because NULL counts differently'],
  [/\bconcat(_ws)?\s*\(/i, 'concat: ||, because NULL counts differently'],
  [/\b(median|quantile\w*|approx_\w+|mode)\s*\(/i, 'quantiles: the nearest rank over row_number()'],
  [/\b(generate_series|range|sequence)\(/i, 'series: a calendar table'],
  [/\b(IGNORE|RESPECT)\s+NULLS\b/i, 'IGNORE NULLS: a running count as group, then max'],
  [/\b(arg_max|arg_min)\s*\(/i, 'arg_max: max_by with a unique second argument'],
  [
    /\b(hash|width_bucket|trunc|truncate|isnan|is_nan|count_if|epoch\w*|strftime|strptime|time_bucket)\s*\(/i,
    'a function that differs',
  ],
  [/\b(SEMI|ANTI|POSITIONAL)\s+JOIN\b|\bILIKE\b|\bPIVOT\b|\bUNPIVOT\b/i, 'syntax of one engine'],
  [/\bLIMIT\s+\S+\s+OFFSET\b/i, 'LIMIT … OFFSET: OFFSET comes first'],
  [/\bread_(parquet|csv\w*|json\w*)\s*\(/i, 'reads files: name a table'],
];

/** These stand in the quotes that the patterns above do not look into. */
const NOT_PORTABLE_IN_QUOTES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [
    /\bdate_diff\s*\(\s*'(?!second'|millisecond'|day')/i,
    "date_diff: only 'second' and 'millisecond', and 'day' of dates, count the same",
  ],
  [/\bTIMESTAMP\s+'[^']*[TZ][^']*'/, "TIMESTAMP '2026-11-01 00:00:00', without T and Z"],
];

const SQL_WORDS = /\b(SELECT|FROM|WHERE|JOIN|GROUP BY|ORDER BY|CASE WHEN|CAST\(|PARTITION BY|OVER \(|UNION ALL)/;

/** What of a SQL text is not portable, each with its offset. */
export function notPortable(sql: string): { offset: number; what: string }[] {
  const uncommented = sql.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, blank);
  const bare = uncommented.replaceAll(/'(?:[^']|'')*'|"[^"]*"/g, blank);
  return [
    ...matches(bare, NOT_PORTABLE),
    ...matches(uncommented, NOT_PORTABLE_IN_QUOTES),
    ...offsetsOf(bare, /\bsum\s*\(/gi)
      .filter((offset) => castType(bare, offset) === undefined)
      .map((offset) => ({ offset, what: 'sum is HUGEINT in DuckDB: CAST(sum(x) AS BIGINT)' })),
    ...offsetsOf(bare, /\bavg\s*\((?!\s*CAST\s*\(.*?AS\s+DOUBLE\s*\))/gi).map((offset) => ({
      offset,
      what: 'avg differs for DECIMAL: CAST its argument to DOUBLE, and keep it away from money',
    })),
    ...offsetsOf(bare, /(?<!\/)\/(?!\/)/g)
      .filter((offset) => !isExactDivision(bare, offset))
      .map((offset) => ({ offset, what: 'division is exact only as CAST((a - a % b) / b AS BIGINT)' })),
  ];
}

export const portableSql: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('src/ledger/') && isTypeScript(path) && !isTest(path))
    .flatMap(({ path, text }) =>
      textLiterals(text, syntaxNodes(text))
        .filter((literal) => SQL_WORDS.test(literal.text))
        .flatMap(({ text: sql, start }) => {
          const firstLine = lineAt(text, start);
          return notPortable(sql).map(({ offset, what }) => `${path}:${firstLine + lineAt(sql, offset) - 1}: ${what}`);
        }),
    );

function matches(sql: string, patterns: typeof NOT_PORTABLE): { offset: number; what: string }[] {
  return patterns.flatMap(([pattern, what]) =>
    offsetsOf(sql, new RegExp(pattern, `g${pattern.flags}`)).map((offset) => ({ offset, what })),
  );
}

/** The type of the innermost CAST around an offset, if it is an exact one or DOUBLE. */
function castType(sql: string, offset: number): string | undefined {
  for (let open = openBefore(sql, offset); open >= 0; open = openBefore(sql, open)) {
    if (!/\bCAST\s*$/i.test(sql.slice(0, open))) continue;
    const inside = sql.slice(open + 1, closeAfter(sql, open));
    const type = /\bAS\s+(BIGINT|INTEGER|DOUBLE|DECIMAL\s*\([\d,\s]+\))\s*$/i.exec(inside)?.[1];
    if (type !== undefined) return type;
  }
  return undefined;
}

/** `CAST((a - a % b) / b AS BIGINT)`, where the slash is at the offset. */
function isExactDivision(sql: string, offset: number): boolean {
  const cast = openBefore(sql, offset);
  if (cast < 0 || !/\bCAST\s*$/i.test(sql.slice(0, cast))) return false;
  const dividend = /^\((.*)\)$/.exec(squeeze(sql.slice(cast + 1, offset)))?.[1];
  const divisor = /^(.*)ASBIGINT$/i.exec(squeeze(sql.slice(offset + 1, closeAfter(sql, cast))))?.[1];
  if (dividend === undefined || divisor === undefined || divisor === '') return false;
  if (operatorsOutside(divisor) !== '' || !dividend.endsWith(`%${divisor}`)) return false;
  const difference = dividend.slice(0, -divisor.length - 1);
  return offsetsOf(difference, /-/g).some((minus) => {
    const whole = difference.slice(0, minus);
    const again = difference.slice(minus + 1);
    return /^\**$/.test(operatorsOutside(again)) && unwrap(whole) === unwrap(again);
  });
}

/** The operators of an expression that stand in no parentheses. */
function operatorsOutside(expression: string): string {
  let depth = 0;
  return expression
    .split('')
    .filter((char) => {
      if (char === '(') depth++;
      if (char === ')') depth--;
      return depth === 0 && '+-*/%'.includes(char);
    })
    .join('');
}

function unwrap(expression: string): string {
  const wrapped = expression.startsWith('(') && closeAfter(expression, 0) === expression.length - 1;
  return wrapped ? unwrap(expression.slice(1, -1)) : expression;
}

/** The offset of the parenthesis that is open at an offset, or -1. */
function openBefore(sql: string, offset: number): number {
  let depth = 0;
  for (let i = offset - 1; i >= 0; i--) {
    if (sql[i] === ')') depth++;
    else if (sql[i] === '(' && depth-- === 0) return i;
  }
  return -1;
}

function closeAfter(sql: string, open: number): number {
  let depth = 0;
  for (let i = open; i < sql.length; i++) {
    if (sql[i] === '(') depth++;
    else if (sql[i] === ')' && --depth === 0) return i;
  }
  return sql.length;
}

function offsetsOf(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map((match) => match.index);
}

function squeeze(sql: string): string {
  return sql.replaceAll(/\s+/g, '');
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
