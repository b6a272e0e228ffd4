import { OperationError } from '../../facts/operation-error.ts';
import type { RunCommand } from '../../facts/source.ts';
import { amdJson, isRocmSmi, parseAmdSmi, parseRocmSmi } from './rocm-json.ts';
import type { RocmProcess } from './rocm-json.ts';
import type { SmiSnapshot } from './smi-gpu.ts';
import { parseSmiList, withList } from './smi-text.ts';
import { parseSmiXml } from './smi-xml.ts';

/** What the tool of the machine's maker says now. */
export interface ToolAnswer {
  readonly tool: 'nvidia-smi' | 'rocm-smi' | 'amd-smi';
  readonly snapshot: SmiSnapshot;
  /** Programs of which only the number of their GPUs is known. */
  readonly processes: readonly RocmProcess[];
}

export interface Machine {
  readonly run: RunCommand;
  readonly prefix: readonly string[];
  readonly signal: AbortSignal;
}

const LIMITS = { timeoutMs: 20_000, outputBytesMax: 16 * 1024 * 1024 };
const NOT_FOUND = 127;
const SSH_FAILED = 255;
const ROCM_ARGS = [
  '--showuniqueid',
  '--showserial',
  '--showproductname',
  '--showuse',
  '--showmemuse',
  '--showpower',
  '--showbus',
  '--showmeminfo',
  'vram',
  '--showpids',
  '--json',
];

/** Asks nvidia-smi, else rocm-smi, else amd-smi. An error that says what to do where none of them is there, or answers. */
export async function askTool(machine: Machine): Promise<ToolAnswer> {
  return (await askNvidia(machine)) ?? (await askRocm(machine)) ?? (await askAmd(machine)) ?? noTool(machine);
}

async function askNvidia(machine: Machine): Promise<ToolAnswer | undefined> {
  const xml = await output(machine, ['nvidia-smi', '-q', '-x']);
  if (xml === undefined) return undefined;
  const snapshot = await parseSmiXml(xml);
  const hasSlices = snapshot.gpus.some(({ slices }) => slices.length > 0);
  const list = hasSlices ? await output(machine, ['nvidia-smi', '-L']) : undefined;
  const named = list === undefined ? snapshot : withList(snapshot, parseSmiList(list));
  return { tool: 'nvidia-smi', snapshot: named, processes: [] };
}

async function askRocm(machine: Machine): Promise<ToolAnswer | undefined> {
  const text = await output(machine, ['rocm-smi', ...ROCM_ARGS]);
  if (text === undefined) return undefined;
  const value = amdJson(text);
  // A machine without cards answers with an empty object.
  if (!isRocmSmi(value)) return { tool: 'rocm-smi', snapshot: { gpus: [] }, processes: [] };
  const { processes, ...snapshot } = parseRocmSmi(value);
  return { tool: 'rocm-smi', snapshot, processes };
}

async function askAmd(machine: Machine): Promise<ToolAnswer | undefined> {
  const metric = await output(machine, ['amd-smi', 'metric', '--usage', '--mem-usage', '--power', '--json']);
  if (metric === undefined) return undefined;
  const named = await output(machine, ['amd-smi', 'static', '--asic', '--json']);
  const list = await output(machine, ['amd-smi', 'list', '--json']);
  const texts = [metric, named, list].filter((text) => text !== undefined);
  const { processes, ...snapshot } = parseAmdSmi(texts.map(amdJson));
  return { tool: 'amd-smi', snapshot, processes };
}

/** What a program prints; undefined if it is not there. */
async function output({ run, prefix, signal }: Machine, argv: readonly string[]): Promise<string | undefined> {
  try {
    const { exitCode, stdout, stderr } = await run([...prefix, ...argv], { ...LIMITS, signal });
    if (exitCode === 0) return stdout;
    if (exitCode === NOT_FOUND) return undefined;
    throw failed(prefix, argv, exitCode, stdout, stderr);
  } catch (failure) {
    const isMissing = failure instanceof OperationError && failure.code === 'no-program' && prefix.length === 0;
    if (isMissing) return undefined;
    throw failure;
  }
}

function failed(
  prefix: readonly string[],
  argv: readonly string[],
  exitCode: number,
  stdout: string,
  stderr: string,
): OperationError {
  const said =
    `${stderr}\n${stdout}`
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '') ?? '';
  const words = said === '' ? '' : `: ${said.slice(0, 200)}`;
  if (exitCode === SSH_FAILED && prefix.length > 0) {
    return new OperationError('no-machine', `${prefix[0]} does not reach the machine${words}`, {
      hint: `Try it by hand, without a password: ${[...prefix, 'nvidia-smi'].join(' ')}`,
    });
  }
  return new OperationError('smi-failed', `${argv[0]} ends with ${exitCode}${words}`, {
    hint: 'Try it by hand. If it cannot reach its driver, the driver is not loaded: a restart after an update mends that.',
  });
}

function noTool({ prefix }: Machine): never {
  const where = prefix.length === 0 ? 'on this machine' : `behind ${prefix.join(' ')}`;
  throw new OperationError('no-smi', `there is neither nvidia-smi nor rocm-smi nor amd-smi ${where}`, {
    hint: 'Run this where the GPUs are, or reach the machine with --command-prefix "ssh box1".',
  });
}

/** A program, whose it is and how long it has been running. */
export interface ProcessOwner {
  readonly user: string;
  readonly runningS: number;
  readonly command: string;
}

const PIDS_AT_ONCE = 500;

/**
 * Whose programs are these? Those that have ended meanwhile, or belong to another system (a container, a virtual machine), are left
 * out. Arguments of programs are not asked for: people put passwords there.
 */
export async function processOwners(machine: Machine, pids: readonly number[]): Promise<Map<number, ProcessOwner>> {
  const owners = new Map<number, ProcessOwner>();
  for (let from = 0; from < pids.length; from += PIDS_AT_ONCE) {
    const some = pids.slice(from, from + PIDS_AT_ONCE);
    const argv = ['ps', '-o', 'pid=,user:64=,etimes=,comm=', '-p', some.join(',')];
    const { stdout } = await machine.run([...machine.prefix, ...argv], { ...LIMITS, signal: machine.signal });
    for (const line of stdout.split('\n')) {
      const found = /^\s*(\d{1,10})\s+(\S+)\s+(\d{1,12})\s+(\S.*?)\s*$/.exec(line);
      if (found === null) continue;
      owners.set(Number(found[1]), { user: found[2] ?? '', runningS: Number(found[3]), command: found[4] ?? '' });
    }
  }
  return owners;
}
