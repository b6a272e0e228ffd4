import { parseExposition } from '../exposition/parse-exposition.ts';
import { isAmdSmi, isRocmSmi } from '../smi/rocm-json.ts';
import { readAmdFile } from './amd-file.ts';
import { readExpositionFile } from './exposition-file.ts';
import { isCounterList, isMetricNames, readCounterList, readKnownJson, readMetricNames } from './known-file.ts';
import { readSlurmFile } from './slurm-file.ts';
import { readSmiFile } from './smi-file.ts';
import { monitorOf, smiSections } from './smi-sections.ts';
import { linesOf, nothingTaken } from './telemetry-file.ts';
import type { TelemetryContext, TelemetryFile } from './telemetry-file.ts';

/** So much of a text is looked at to tell what it is. */
const HEAD_CHARS = 200_000;

/**
 * What is this file, and what does it say of GPUs? Told by its content, never by its name.
 *
 * What is not telemetry, or not known, comes back as such with all of its lines counted: no row is lost without a word.
 */
export async function readTelemetry(text: string, context: TelemetryContext): Promise<TelemetryFile> {
  const lines = linesOf(text.slice(0, HEAD_CHARS));
  if (lines.every((line) => line.trim() === '')) return nothingTaken('an empty file', text, '');
  if (text.slice(0, HEAD_CHARS).includes('\u0000')) return notRecognised(text, 'it is binary, not text');
  const json = jsonOf(text);
  if (json !== undefined) return readJson(json.value, text, context);
  if (isSmi(lines)) return readSmiFile(text, context);
  if (isCounterList(lines)) return readCounterList(text);
  if (isMetricNames(lines)) return readMetricNames(text);
  if (isExposition(text.slice(0, HEAD_CHARS))) return readExpositionFile(text, context);
  const monitor = monitorOf(lines);
  if (monitor !== undefined) return monitorLog(monitor, text);
  // What begins like JSON and is none was cut off, whoever wrote it.
  const slurm = text.trimStart().startsWith('{') ? undefined : readSlurmFile(text, context);
  return slurm ?? tableOrNothing(text, lines, context.stem);
}

function jsonOf(text: string): { readonly value: unknown } | undefined {
  const from = text.search(/\S/);
  // rocm-smi prints warnings above its JSON.
  const begin = /^[[{]/.test(text.slice(from, from + 1)) ? from : text.slice(0, 20_000).search(/^\{\s*$/m);
  if (begin < 0) return undefined;
  try {
    return { value: JSON.parse(text.slice(begin)) };
  } catch {
    // Not JSON: a line of metrics may begin with a brace as well.
    return undefined;
  }
}

async function readJson(value: unknown, text: string, context: TelemetryContext): Promise<TelemetryFile> {
  if (isRocmSmi(value) || isAmdSmi(value)) return readAmdFile(value, context);
  return (
    readKnownJson(value) ??
    readSlurmFile(text, context) ??
    notRecognised(text, 'JSON of a shape that is not known', [`${TABLE_HINT}: bursar import samples FILE --map …`])
  );
}

function monitorLog(monitor: 'dmon' | 'pmon', text: string): TelemetryFile {
  return nothingTaken(
    `the output of nvidia-smi ${monitor}: it names no GPU by UUID`,
    text,
    'lines of GPUs that are known by their place alone, which changes when a machine starts anew',
    [
      'a log that says which GPU it was: nvidia-smi' +
        ' --query-gpu=timestamp,uuid,index,name,utilization.gpu,memory.used,power.draw --format=csv -l 30',
    ],
  );
}

function isSmi(lines: readonly string[]): boolean {
  return smiSections(lines).some(({ kind, command }) => {
    return (kind !== 'other' && kind !== 'monitor') || (command?.includes('nvidia-smi') ?? false);
  });
}

/** A text of which more lines are series than make no sense. */
function isExposition(head: string): boolean {
  const { samples, report } = parseExposition(head.slice(0, head.lastIndexOf('\n') + 1 || head.length));
  const strange = report.lines - report.samples - report.comments - report.blank;
  const named = samples.filter(({ name }) => /[_:]/.test(name)).length;
  const declared = /^# (?:TYPE|HELP) \S+/m.test(head);
  return report.samples > strange && (declared || named * 2 > report.samples);
}

const TABLE_HINT = 'a table of your own is taken by naming its columns';

function tableOrNothing(text: string, lines: readonly string[], stem: string): TelemetryFile {
  const [header = '', row = ''] = lines;
  const separator = [',', '\t', ';'].find((each) => header.split(each).length > 1);
  const columns = separator === undefined ? [] : cellsOf(header, separator);
  // The last line of what is looked at may be cut off.
  const said = lines.filter((line) => line.trim() !== '').slice(0, 200);
  const isTable =
    said.length > 1 && separator !== undefined && said.every((line) => line.split(separator).length >= columns.length);
  if (!isTable) return notRecognised(text, 'neither metrics, nor nvidia-smi, rocm-smi or Slurm');
  const hint = `${TABLE_HINT}: bursar import samples FILE --map ${mapOption(columns, cellsOf(row, separator), stem)}`;
  const kind = `a table with the columns ${columns.slice(0, 8).join(', ')}`;
  return { ...nothingTaken(kind, text, 'rows of a table: its columns have to be named', [hint]), isRecognised: false };
}

function cellsOf(line: string, separator: string): string[] {
  return line.split(separator).map((cell) => cell.trim().replaceAll('"', ''));
}

/** The option that would read this table, as far as its names tell; the person corrects the rest. */
function mapOption(columns: readonly string[], row: readonly string[], stem: string): string {
  const time = columns.find((name) => /time|date|^ts$/i.test(name));
  const device = columns.find((name) => name !== time && /uuid|gpu_?id|device|_ip$|host|node|pod|instance/i.test(name));
  const value = columns.find((name) => name !== time && name !== device);
  const written = Number(row[columns.indexOf(time ?? '')]);
  const unit = Number.isFinite(written) && written > 0 ? (written > 1e11 ? ':ms' : ':s') : '';
  const isMemory = /mem|fb|vram/i.test(`${stem} ${value ?? ''}`);
  const column = isMemory ? `fb_used_mib=${value ?? 'COLUMN'}:bytes` : `util_permille=${value ?? 'COLUMN'}:percent`;
  return `device_id=${device ?? 'COLUMN'},ts=${time ?? 'COLUMN'}${unit},${column}`;
}

function notRecognised(text: string, why: string, notes: readonly string[] = []): TelemetryFile {
  return { ...nothingTaken('not recognised', text, why, notes), isRecognised: false };
}
