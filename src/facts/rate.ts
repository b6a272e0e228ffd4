import type { FactTable } from './fact-table.ts';

export const rateTable: FactTable = {
  name: 'rate',
  importName: 'rates',
  meaning: 'What an hour of a GPU costs where no bill says so: owned hardware, a contract.',
  partitionBy: 'valid_from',
  partition: 'day',
  sortBy: ['node_id', 'model', 'valid_from'],
  merge: 'row',
  columns: [
    { name: 'model', kind: 'text', key: true, missing: 'any model', meaning: 'GPU model, as listed or a part of it; `*` is any.', example: 'H100', alsoKnownAs: [{ name: 'gpu_model' }] },
    { name: 'node_id', kind: 'text', key: true, missing: 'any machine', meaning: 'One machine; goes before the model.', example: '', alsoKnownAs: [{ name: 'node' }] },
    { name: 'valid_from', kind: 'time', key: true, missing: 'always', meaning: 'First hour it holds for.', example: '2026-10-01T00:00:00Z', alsoKnownAs: [{ name: 'from' }] },
    { name: 'valid_until', kind: 'time', missing: 'until a newer one begins', meaning: 'First hour after it.', example: '', alsoKnownAs: [{ name: 'until' }] },
    { name: 'usd_per_gpu_hour', kind: 'decimal', required: true, meaning: 'Dollars for one GPU and one hour, host included; at most nine decimals.', example: '1.95', alsoKnownAs: [{ name: 'rate' }, { name: 'price' }] },
    { name: 'rate_source', kind: 'text', meaning: 'Where the figure comes from.', example: 'finance, FY26', alsoKnownAs: [{ name: 'source' }] },
    { name: 'observed_at', kind: 'time', missing: 'the newest time in the batch', meaning: 'When this was stated.', example: '' },
  ],
};

export const fxRateTable: FactTable = {
  name: 'fx_rate',
  importName: 'fx',
  meaning: 'Dollars for one unit of another currency. A bill is posted at the newest rate dated up to its end.',
  partitionBy: 'as_of',
  partition: 'day',
  sortBy: ['currency', 'as_of'],
  merge: 'row',
  columns: [
    { name: 'currency', kind: 'text', key: true, required: true, meaning: 'ISO 4217 code.', example: 'EUR' },
    { name: 'as_of', kind: 'time', key: true, required: true, meaning: 'The day the rate is of.', example: '2026-10-31T00:00:00Z', alsoKnownAs: [{ name: 'date' }] },
    { name: 'usd_per_unit', kind: 'decimal', required: true, meaning: 'Dollars for one unit; at most nine decimals.', example: '1.0842', alsoKnownAs: [{ name: 'rate' }] },
    { name: 'rate_source', kind: 'text', meaning: 'Where the figure comes from.', example: 'ECB', alsoKnownAs: [{ name: 'source' }] },
    { name: 'observed_at', kind: 'time', missing: 'the newest time in the batch', meaning: 'When this was stated.', example: '' },
  ],
};
