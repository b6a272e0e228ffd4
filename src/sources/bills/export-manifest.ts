import { OperationError } from '../../facts/operation-error.ts';
import { knownVersion } from './focus.ts';

/** A file an export names, and what it says about it. */
interface ManifestPart {
  readonly key: string;
  readonly rows?: number;
  readonly bytes?: number;
}

/** What an export says about itself: which files make it up, of which month and run, and what they add up to. */
export interface ExportManifest {
  /** For people: `AWS report my-cur`, `Azure export actual-daily`. */
  readonly exportName: string;
  /** The first day of the month it is of, as `2026-10-01`; undefined where it does not say. */
  readonly month?: string;
  /** The assembly, execution or run: several may lie in one folder. */
  readonly run: string;
  readonly runAt?: string;
  readonly basis?: 'actual' | 'amortised';
  readonly parts: readonly ManifestPart[];
  readonly rows?: number;
  readonly bytes?: number;
  readonly billed?: string;
  readonly effective?: string;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Question: which files does this manifest name, and what does it promise about them?
 *
 * AWS reports and Data Exports and Azure exports each have their own; undefined where the JSON is none of them.
 */
export function readManifest(text: string, label: string): ExportManifest | undefined {
  const json = parseJson(text);
  if (json === undefined) return undefined;
  const stated = wordOf(json, 'FocusVersion', 'focusVersion');
  if (stated !== undefined) knownVersion(stated, label);
  const parts = partsOf(json);
  if (parts === undefined) return undefined;
  if (parts.length === 0) {
    throw new OperationError('empty-manifest', `${label} names no file`, {
      hint: 'The export has not been written yet, or it failed: look at its history.',
    });
  }
  return { ...(isAzure(json) ? azureOf(json, label) : awsOf(json, text, label)), parts, ...promisesOf(json) };
}

function parseJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isRecord(value) ? value : undefined;
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined;
    throw failure;
  }
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wordOf(json: Json, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = json[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}

function countOf(json: Json, ...names: readonly string[]): number | undefined {
  const word = wordOf(json, ...names);
  const count = Number(word);
  return word !== undefined && Number.isInteger(count) && count >= 0 ? count : undefined;
}

function isAzure(json: Json): boolean {
  return Array.isArray(json['blobs']);
}

function partsOf(json: Json): ManifestPart[] | undefined {
  const listed = json['blobs'] ?? json['reportKeys'] ?? json['dataFiles'] ?? json['files'];
  if (!Array.isArray(listed)) return undefined;
  return (listed as readonly unknown[]).flatMap((entry): ManifestPart[] => {
    if (typeof entry === 'string') return [{ key: entry }];
    if (!isRecord(entry)) return [];
    const key = wordOf(entry, 'blobName', 'key', 'path', 'name', 'url');
    const rows = countOf(entry, 'dataRowCount', 'rowCount', 'rows');
    const bytes = countOf(entry, 'byteCount', 'size', 'bytes');
    return key === undefined
      ? []
      : [{ key, ...(rows !== undefined && { rows }), ...(bytes !== undefined && { bytes }) }];
  });
}

/** Sums a manifest states for all its files; what it does not state is not checked. */
function promisesOf(json: Json): Pick<ExportManifest, 'rows' | 'bytes' | 'billed' | 'effective'> {
  const totals = isRecord(json['totals']) ? { ...json, ...json['totals'] } : json;
  const rows = countOf(totals, 'dataRowCount', 'rowCount', 'totalRows', 'recordCount', 'rows');
  const bytes = countOf(totals, 'byteCount', 'totalBytes');
  const billed = wordOf(
    totals,
    'billedCost',
    'BilledCost',
    'totalBilledCost',
    'totalCost',
    'unblendedCost',
    'total',
    'billed',
  );
  const effective = wordOf(totals, 'effectiveCost', 'EffectiveCost', 'totalEffectiveCost', 'effective');
  return {
    ...(rows !== undefined && { rows }),
    ...(bytes !== undefined && { bytes }),
    ...(billed !== undefined && { billed }),
    ...(effective !== undefined && { effective }),
  };
}

function azureOf(json: Json, label: string): Pick<ExportManifest, 'exportName' | 'month' | 'run' | 'runAt' | 'basis'> {
  const config = isRecord(json['exportConfig']) ? json['exportConfig'] : {};
  const info = isRecord(json['runInfo']) ? json['runInfo'] : {};
  const type = wordOf(config, 'type') ?? '';
  const version = wordOf(config, 'dataVersion');
  if (/focus/i.test(type) && version !== undefined) knownVersion(version, label);
  const month = monthOf(wordOf(info, 'startDate'));
  const runAt = wordOf(info, 'submittedTime');
  const basis = /amorti[sz]ed/i.test(type) ? 'amortised' : /actual/i.test(type) ? 'actual' : undefined;
  return {
    exportName: `Azure export ${wordOf(config, 'exportName') ?? label}`,
    run: wordOf(info, 'runId') ?? runAt ?? label,
    ...(month !== undefined && { month }),
    ...(runAt !== undefined && { runAt }),
    ...(basis !== undefined && { basis }),
  };
}

function awsOf(
  json: Json,
  text: string,
  label: string,
): Pick<ExportManifest, 'exportName' | 'month' | 'run' | 'runAt'> {
  const period = isRecord(json['billingPeriod']) ? json['billingPeriod'] : {};
  const focus = /FOCUS_(\d+_\d+)/.exec(text)?.[1];
  if (focus !== undefined) knownVersion(focus, label);
  const inPath = /BILLING_PERIOD=(\d{4}-\d{2})/.exec(`${label} ${text}`)?.[1];
  const month = monthOf(wordOf(period, 'start')) ?? monthOf(wordOf(json, 'billingPeriod')) ?? monthOf(inPath);
  const runAt = wordOf(json, 'createdTime', 'createdAt', 'executionTime', 'lastModified');
  const name = wordOf(json, 'reportName', 'exportName', 'name') ?? exportNameIn(label);
  return {
    exportName: `AWS report ${name}`,
    run: wordOf(json, 'assemblyId', 'executionId') ?? label,
    ...(month !== undefined && { month }),
    ...(runAt !== undefined && { runAt }),
  };
}

/** `prefix/NAME/metadata/BILLING_PERIOD=…/NAME-Manifest.json`. */
function exportNameIn(label: string): string {
  const file = label.split('/').at(-1) ?? label;
  return file.replace(/-?manifest\.json$/i, '') || label;
}

/** `20261001T000000.000Z`, `2026-10-01T00:00:00` and `2026-10` as the first day of the month. */
function monthOf(text: string | undefined): string | undefined {
  const match = /^(\d{4})-?(\d{2})/.exec(text ?? '');
  return match === null ? undefined : `${match[1]}-${match[2]}-01`;
}
