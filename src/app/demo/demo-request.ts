import { readFile } from 'node:fs/promises';
import { OperationError } from '../../facts/operation-error.ts';
import { nearestName } from '../../facts/nearest-name.ts';
import { planFleet } from '../../demo/fleet/plan-fleet.ts';
import type { Scope } from '../../demo/organisation.ts';
import { PRESETS } from '../../demo/world/presets.ts';
import type { World } from '../../demo/world/world-schema.ts';
import { readWorld } from '../../demo/world/world-file.ts';

const DAY_S = 86_400;
/** Imports take times of this century only. */
const CENTURY_START_S = Date.UTC(2000, 0, 1) / 1000;
/** What runs as the window begins was handed in up to weeks before. */
const WARM_UP_DAYS = 60;
/** The bills of the last month reach to its end. */
const UNTIL_MAX_S = Date.UTC(2099, 11, 1) / 1000;
const GPUS_MAX = 200_000;
const DAYS_MAX = 366;
const STEP_MIN_S = 10;
const STEP_MAX_S = 3600;
const SEED_MAX = 4_294_967_295;

/** The numbers of the command line, as they were typed. */
export interface DemoOptions {
  readonly gpus: string;
  readonly days: string;
  readonly step: string;
  readonly until: string;
  readonly seed: string;
}

/** What the numbers of the command line mean for this world, or a word on the one that means nothing. */
export function demoScope(options: DemoOptions, world: World): Scope {
  const gpus = wholeNumber('--gpus', options.gpus, 1, GPUS_MAX, 'A fleet needs at least one GPU: --gpus 250.');
  const days = wholeNumber('--days', options.days, 1, DAYS_MAX, 'A window has at least one day: --days 30.');
  const seed = wholeNumber('--seed', options.seed, 0, SEED_MAX, 'Another number, another history: --seed 2.');
  const until = dayStart(options.until, days);
  const stepS = stepSeconds(options.step);
  // Asked here, before anything is written: machines cannot be cut, so a fleet may be too small for any.
  planFleet(world, gpus);
  return { gpus, seed, from: until - days * DAY_S, until, stepS };
}

/** One of the worlds that come with Bursar, or a file. */
export async function demoWorld(nameOrFile: string): Promise<World> {
  const preset = Object.entries(PRESETS).find(([name]) => name === nameOrFile)?.[1];
  if (preset !== undefined) return preset;
  return readWorld(await worldText(nameOrFile), nameOrFile);
}

async function worldText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new OperationError('no-world', unreadableWorld(path, cause), {
      cause,
      hint: 'Begin with one that is there: bursar demo --print-world > my-world.yaml',
    });
  }
}

function unreadableWorld(path: string, cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'EISDIR') return `the world ${path} is a folder, not a file`;
  if (code === 'EACCES' || code === 'EPERM') return `the world ${path} may not be read by this user`;
  const names = Object.keys(PRESETS);
  const near = nearestName(path, names);
  const nearest = near === undefined ? '' : ` (nearest: ${near})`;
  return `there is no world ${path}, neither a file nor one of ${names.join(', ')}${nearest}`;
}

function wholeNumber(option: string, text: string, least: number, most: number, hint: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new OperationError('bad-option', `${option} ${text} is not a whole number from ${least} to ${most}`, { hint });
}

function dayStart(text: string, days: number): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  const least = CENTURY_START_S + (days + WARM_UP_DAYS) * DAY_S;
  // Date.parse takes the 31st of every month for one.
  const isDay = !Number.isNaN(ms) && dayText(ms / 1000) === text;
  if (isDay && ms / 1000 >= least && ms / 1000 <= UNTIL_MAX_S) return ms / 1000;
  const range = `from ${dayText(least)} to ${dayText(UNTIL_MAX_S)}`;
  throw new OperationError('bad-option', `--until ${text} is not a day ${range}`, {
    hint: 'The demo ends at the midnight (UTC) that begins this day: --until 2026-11-01. Its first day is --days before.',
  });
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function stepSeconds(text: string): number {
  const match = /^(\d+)(s|m|h)$/.exec(text);
  const seconds = Number(match?.[1]) * ({ s: 1, m: 60, h: 3600 }[match?.[2] ?? ''] ?? Number.NaN);
  if (seconds >= STEP_MIN_S && seconds <= STEP_MAX_S && DAY_S % seconds === 0) return seconds;
  throw new OperationError('bad-option', `--step ${text} is not a step between samples`, {
    hint: 'From 10s to 1h, and a day must be a whole number of steps: 30s, 1m, 5m, 15m.',
  });
}
