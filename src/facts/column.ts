/** What a column may hold. Every table of the lake is made of these six kinds. */
export type ColumnKind = 'text' | 'time' | 'integer' | 'decimal' | 'flag' | 'map';

/** One column of a fact table: its name is its contract, its unit ends its name. */
export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Part of the row's identity; two rows with the same key speak of the same thing. */
  readonly key?: true;
  /** A file without this column, or a row without a value in it, is refused. */
  readonly required?: true;
  /** Why a row without a value in a required column is no fact: it is left out and counted, not refused. */
  readonly leftOutIfMissing?: string;
  /** What a missing value means, for people. */
  readonly missing?: string;
  /** The unit a bare number is taken to be in, and the family it can be converted from. */
  readonly unit?: Unit;
  readonly meaning: string;
  readonly example: string;
  /** Other names under which people's files carry this column, each in its own unit. */
  readonly alsoKnownAs?: readonly { readonly name: string; readonly unit?: string }[];
  /** The only values a text column may have. */
  readonly oneOf?: readonly string[];
  /** Values outside are unknown (blank sensor values), not errors. */
  readonly knownRange?: readonly [number, number];
}

/** A unit of the lake and, for each unit a file may use, the factor `numerator / denominator` into it. */
export interface Unit {
  readonly name: string;
  readonly from: Readonly<Record<string, readonly [numerator: number, denominator: number]>>;
}

export const PERMILLE: Unit = {
  name: 'permille',
  from: { permille: [1, 1], percent: [10, 1], ratio: [1000, 1] },
};

export const MEBIBYTE: Unit = {
  name: 'mib',
  from: {
    mib: [1, 1],
    bytes: [1, 1_048_576],
    kib: [1, 1024],
    gib: [1024, 1],
    kb: [1000, 1_048_576],
    mb: [1_000_000, 1_048_576],
    gb: [1_000_000_000, 1_048_576],
  },
};

export const BYTE: Unit = {
  name: 'bytes',
  from: {
    bytes: [1, 1],
    kib: [1024, 1],
    mib: [1_048_576, 1],
    gib: [1_073_741_824, 1],
    kb: [1000, 1],
    mb: [1_000_000, 1],
    gb: [1_000_000_000, 1],
  },
};

export const WATT: Unit = { name: 'w', from: { w: [1, 1], mw: [1, 1000], kw: [1000, 1] } };

export const MEGABYTE_PER_SECOND: Unit = {
  name: 'mb_s',
  from: { mb_s: [1, 1], bytes_s: [1, 1_000_000], kb_s: [1, 1000], gb_s: [1000, 1] },
};

export const SECOND: Unit = {
  name: 's',
  from: { s: [1, 1], ms: [1, 1000], min: [60, 1], h: [3600, 1] },
};

export const MILLICPU: Unit = { name: 'millis', from: { millis: [1, 1], cores: [1000, 1] } };

/** Shares of a device are integers in 63,000ths: exact for 1–10 holders, thousandths, sevenths, eighths. */
export const SHARE_UNITS = 63_000;

export const SHARE: Unit = {
  name: 'units',
  from: { units: [1, 1], ratio: [SHARE_UNITS, 1], percent: [630, 1], permille: [63, 1], slots8: [7875, 1] },
};

/** Times may also come as a number since 1970, in one of these units per second. */
export const EPOCH_UNITS_PER_SECOND: Readonly<Record<string, number>> = {
  s: 1,
  ms: 1000,
  us: 1_000_000,
  ns: 1_000_000_000,
};

/** The type of a column in Parquet and in every engine. Narrow integers halve what a sort of samples needs. */
export function sqlType(column: Column): string {
  switch (column.kind) {
    case 'text':
      return 'VARCHAR';
    case 'time':
      return 'TIMESTAMP';
    case 'integer':
      return column.knownRange !== undefined && column.knownRange[1] < 2 ** 31 ? 'INTEGER' : 'BIGINT';
    case 'decimal':
      return 'DECIMAL(38,18)';
    case 'flag':
      return 'BOOLEAN';
    case 'map':
      return 'MAP(VARCHAR, VARCHAR)';
  }
}
