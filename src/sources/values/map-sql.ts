import type { Cell, ParsedColumn } from './parsed-column.ts';
import { isText } from './parsed-column.ts';

const MAP = 'MAP(VARCHAR, VARCHAR)';

/** Reads tags or labels, sorted by key so that the same tags are the same row: a JSON object, `a=b;c=d`, or a typed map. */
export function parseTags(cell: Cell): ParsedColumn {
  const { ref, type } = cell;
  const tags = `${ref}_tags`;
  return {
    helpers: [[tags, isText(type) ? textTags(ref) : typedTags(ref, type)]],
    value: tags,
    problem: `CASE WHEN ${ref} IS NOT NULL AND ${tags} IS NULL THEN 'is not a JSON object or a=b;c=d' END`,
  };
}

function sorted(entries: string): string {
  return `TRY(map_from_entries(list_sort(${entries})))`;
}

function textTags(ref: string): string {
  const pair = `struct_pack(key := trim(split_part(pair, '=', 1)), value := trim(substr(pair, strpos(pair, '=') + 1)))`;
  const pairs = `list_filter(string_split(${ref}, ';'), lambda pair: contains(pair, '='))`;
  return `CASE WHEN ${ref} IS NULL THEN NULL
    WHEN prefix(${ref}, '{') THEN ${sorted(`map_entries(CAST(TRY_CAST(${ref} AS JSON) AS ${MAP}))`)}
    WHEN contains(${ref}, '=') THEN ${sorted(`list_transform(${pairs}, lambda pair: ${pair})`)} END`;
}

function typedTags(ref: string, type: string): string {
  if (type.startsWith('MAP(')) return sorted(`map_entries(CAST(${ref} AS ${MAP}))`);
  // A list of key and value, as BigQuery exports them.
  if (/^STRUCT\("?key"? VARCHAR, "?value"? VARCHAR\)\[\]$/i.test(type)) return sorted(ref);
  if (type.startsWith('STRUCT(')) {
    // Every row of a struct has every key: those without a value are not its tags.
    const entries = `map_entries(CAST(to_json(${ref}) AS ${MAP}))`;
    return sorted(`list_filter(${entries}, lambda entry: entry.value IS NOT NULL)`);
  }
  return textTags(`CAST(${ref} AS VARCHAR)`);
}
