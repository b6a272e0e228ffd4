import { OperationError } from '../../facts/operation-error.ts';
import type { GpuReading } from '../gpu-metrics/gpu-reading.ts';
import { parseSmiCsv } from '../smi/smi-csv.ts';
import { isMaskedId } from '../smi/smi-value.ts';
import { smiReadings } from '../smi/smi-gpu.ts';
import type { SmiSnapshot } from '../smi/smi-gpu.ts';
import { parseSmiTable } from '../smi/smi-table.ts';
import { parseSmiList, parseSmiQuery, withList } from '../smi/smi-text.ts';
import type { ListedGpu } from '../smi/smi-text.ts';
import { parseSmiXml } from '../smi/smi-xml.ts';
import { repeatedOutputs, smiSections } from './smi-sections.ts';
import type { SectionKind, SmiSection } from './smi-sections.ts';
import { linesOf, PartCount } from './telemetry-file.ts';
import type { TelemetryContext, TelemetryFile } from './telemetry-file.ts';
import { momentInZone, offsetBetween } from './wall-clock.ts';

interface Found {
  readonly snapshot: SmiSnapshot;
  readonly nodeId?: string;
}

const KIND_WORDS: Readonly<Record<SectionKind, string>> = {
  csv: 'nvidia-smi --query-gpu (CSV)',
  query: 'nvidia-smi -q',
  table: "nvidia-smi's table",
  list: 'nvidia-smi -L',
  xml: 'nvidia-smi -q -x (XML)',
  monitor: 'nvidia-smi dmon or pmon',
  other: 'a log of nvidia-smi',
};

/** Reads what nvidia-smi printed, one output or a log of several. Every line is accounted for. */
export async function readSmiFile(text: string, context: TelemetryContext): Promise<TelemetryFile> {
  const lines = linesOf(text);
  const sections = smiSections(lines);
  const count = new PartCount();
  const list = sections.filter(({ kind }) => kind === 'list').flatMap(({ body }) => parseSmiList(body.join('\n')));
  const found: Found[] = [];
  for (const section of sections) {
    count.add('headings', section.heading.length);
    found.push(...(await readSection(section, list, count)));
  }
  const clock = clockOf(text, found, context);
  const nodeId = context.nodeId ?? found.find((each) => each.nodeId !== undefined)?.nodeId ?? context.stem;
  const readings = found.flatMap(({ snapshot, nodeId: own }) => {
    return smiReadings(snapshot, context.nodeId ?? own ?? nodeId, clock.momentOf(snapshot.wallMs));
  });
  const printed = sections.filter(({ body }) => body.some((line) => line.trim() !== ''));
  return {
    kind: printed.length === 1 && printed[0] !== undefined ? KIND_WORDS[printed[0].kind] : KIND_WORDS.other,
    isRecognised: true,
    unit: 'line',
    units: 'lines',
    total: lines.length,
    parts: count.parts(),
    readings,
    notes: [...clock.notes, ...idNotes(found, readings, context, nodeId)],
  };
}

async function readSection(section: SmiSection, list: readonly ListedGpu[], count: PartCount): Promise<Found[]> {
  const { kind, body, command } = section;
  const blank = body.filter((line) => line.trim() === '').length;
  count.add('blank', blank);
  const said = body.length - blank;
  switch (kind) {
    case 'csv':
      return readCsv(body, count);
    case 'query':
    case 'table': {
      const parse = kind === 'query' ? parseSmiQuery : parseSmiTable;
      const snapshots = repeatedOutputs(kind, body).map((lines) => withList(parse(lines.join('\n')), list));
      const gpus = snapshots.flatMap((snapshot) => snapshot.gpus).length;
      count.add(`lines of ${KIND_WORDS[kind]}`, said, gpus > 0 ? { table: 'gpu_sample' } : {});
      return snapshots.map((snapshot) => ({ snapshot }));
    }
    case 'xml':
      return readXml(body, said, count);
    case 'list':
      count.add('lines that name GPUs and slices', said, { table: 'device' });
      // GPUs that are only listed are there, whatever they do.
      return [{ snapshot: { gpus: list.map((gpu) => ({ ...gpu, values: {}, slices: [], processes: [] })) } }];
    case 'monitor':
      count.add('lines of dmon and pmon: they have neither times nor ids', said, {
        example: body.find((line) => line.trim() !== '') ?? '',
      });
      return [];
    case 'other':
      count.add(otherWords(command), said, { example: body.find((line) => line.trim() !== '') ?? '' });
      return [];
  }
}

function otherWords(command: string | undefined): string {
  if (command === undefined) return 'lines around the outputs';
  const options = command.replace(/^(?:sudo\s+)?nvidia-smi\s*/, '').split(/[\s=]/)[0] ?? '';
  if (/^(?:-h|--help)/.test(options)) return 'lines of help texts';
  return `lines of nvidia-smi ${options}: nothing about activity`.replace('  ', ' ');
}

function readCsv(body: readonly string[], count: PartCount): Found[] {
  const { kind, gpus, processes, headers, notUnderstood } = parseSmiCsv(body.join('\n'));
  count.add('headers of CSV', headers);
  count.add('rows of GPUs', gpus.length, { table: 'gpu_sample' });
  count.add('rows of programs: neither owner nor start is in them', processes.length);
  for (const { reason, example } of notUnderstood) {
    const what = kind === 'other' ? 'rows of CSV about other things than activity' : `rows not understood: ${reason}`;
    count.add(what, 1, { example });
  }
  return gpus.map(({ gpu, wallMs, nodeId }) => ({
    snapshot: { gpus: [gpu], ...(wallMs !== undefined && { wallMs }) },
    ...(nodeId !== undefined && { nodeId }),
  }));
}

async function readXml(body: readonly string[], said: number, count: PartCount): Promise<Found[]> {
  try {
    const snapshot = await parseSmiXml(body.join('\n'));
    count.add(`lines of ${KIND_WORDS.xml}`, said, snapshot.gpus.length > 0 ? { table: 'gpu_sample' } : {});
    return [{ snapshot }];
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    count.add(failure.message, said);
    return [];
  }
}

interface FileClock {
  readonly momentOf: (wallMs: number | undefined) => Date;
  readonly notes: readonly string[];
}

/**
 * When was it? The tools write the time of the machine without its zone: `--at` is the first of them, `--zone` their zone, a
 * time with `Z` above them tells their distance from it, else they are taken as UTC, and that is said.
 */
function clockOf(text: string, found: readonly Found[], { at, zone, writtenAt }: TelemetryContext): FileClock {
  const walls = found.flatMap(({ snapshot }) => snapshot.wallMs ?? []);
  const first = Math.min(...walls);
  if (walls.length === 0 || walls.length < found.length) {
    const moment = at ?? writtenAt;
    const note = `taken at ${moment.toISOString().slice(0, 19)}Z, when the file was written: --at TIME says otherwise`;
    const isAssumed = at === undefined && found.length > 0;
    if (walls.length === 0) return { momentOf: () => moment, notes: isAssumed ? [note] : [] };
  }
  const shifted = (offsetMs: number, notes: readonly string[] = []): FileClock => ({
    // An output without a time of its own belongs to the first that has one.
    momentOf: (wallMs) => new Date((wallMs ?? first) - offsetMs),
    notes,
  });
  if (at !== undefined) return shifted(first - at.getTime());
  if (zone !== undefined) return { momentOf: (wallMs) => new Date(momentInZone(wallMs ?? first, zone)), notes: [] };
  const stated = /\b(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)\b/.exec(text)?.[1];
  const offset = stated === undefined ? undefined : offsetBetween(first, Date.parse(stated));
  if (offset !== undefined) {
    return shifted(
      offset,
      offset === 0 ? [] : [`its clock is ${hours(offset)} of UTC, by the time stated above the outputs`],
    );
  }
  return shifted(0, ['its times say no zone: taken as UTC, --zone NAME says otherwise']);
}

function hours(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / 60_000;
  const clock = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')} h`;
  return `${clock} ${offsetMs > 0 ? 'ahead' : 'behind'}`;
}

function idNotes(
  found: readonly Found[],
  readings: readonly GpuReading[],
  { nodeId: given }: TelemetryContext,
  nodeId: string,
): string[] {
  const gpus = found.flatMap(({ snapshot }) => snapshot.gpus);
  const masked = gpus.some(({ id }) => id !== undefined && isMaskedId(id));
  const programs = gpus.reduce((sum, { processes }) => sum + processes.length, 0);
  const isNamed = given !== undefined || found.some((each) => each.nodeId !== undefined);
  return [
    ...(masked ? ['its GPU ids are masked with zeros: its GPUs go by machine and index'] : []),
    ...(!isNamed && readings.length > 0
      ? [`no machine is named in it: taken as ${nodeId}, --node NAME says otherwise`]
      : []),
    ...(programs > 0
      ? ['programs on GPUs are not taken as holders: their owners are not in it (bursar watch knows them)']
      : []),
  ];
}
