import { spreadOf } from './unmanaged/hardware.ts';
import type { Habit, Training } from './habit-schema.ts';
import { unmanaged } from './unmanaged.ts';
import type { Pool, World } from './world-schema.ts';

/** Those of the list that have a change, with it, in the order of the list; the others are gone. */
function kept<Member extends { readonly name: string }>(
  members: readonly Member[],
  changes: Readonly<Record<string, object>>,
): Member[] {
  return members
    .filter(({ name }) => Object.hasOwn(changes, name))
    .map((member) => Object.assign({}, member, changes[member.name]));
}

/** Machines are packed, so that large jobs find whole ones; the legacy cluster is gone, the rented cards nearly. */
const pools: Record<string, Partial<Pool>> = {
  'train-h100': { share_percent: 32, commitment_used_percent: 97, placement: 'pack', drained_percent: 1 },
  'reserved-h100': { share_percent: 6, commitment_used_percent: 97, placement: 'pack', drained_percent: 1 },
  'rent-h100': { share_percent: 3, placement: 'pack' },
  'train-a100': { share_percent: 24, placement: 'pack', drained_percent: 1 },
  'spot-a100': { share_percent: 12, placement: 'pack' },
  'mig-a100': { share_percent: 4, placement: 'pack' },
  'serve-l4': { share_percent: 13, placement: 'pack' },
  'dev-t4': { share_percent: 3, placement: 'pack' },
  'vm-l4': { share_percent: 3 },
};

/** Loaders have the cores they need, jobs end when their work does, mistakes are caught before the queue. */
const wellTrained = {
  untagged_percent: 0,
  fails_early_percent: 6,
  cancelled_percent: 6,
  stays_percent: 1,
  stays_hours: spreadOf(0.1, 0.2, 0.5, 1, 2, 3),
  touches_fewer_percent: 0,
  gpu_days_between_crashes: 60,
  validation_minutes: spreadOf(0, 1, 2, 4, 8, 10),
} satisfies Partial<Training>;

/** Sessions run on shared cards, stop by themselves when nobody uses them, and their state is kept. */
const wellKept = { untagged_percent: 0, stopped_idle_hours: 1, closed_at_night_percent: 60, forgotten_percent: 10 };

const wellScaled = { autoscaled: true, untagged_percent: 0, peak_load_percent: 85 };

const habits: Record<string, object> = {
  'llm-pretrain': {
    ...wellTrained,
    load_percent: 92,
    cpus_per_gpu: spreadOf(16, 18, 20, 24, 24, 24),
    all_reduce_ms: 25,
    checkpoint_minutes: 30,
    checkpoint_s: 20,
  },
  'finetune-eight': {
    ...wellTrained,
    load_percent: 92,
    gpus: { '2': 40, '4': 30, '8': 30 },
    cpus_per_gpu: spreadOf(12, 14, 16, 20, 24, 24),
    checkpoint_minutes: 30,
    checkpoint_s: 15,
  },
  'finetune-rented': {
    ...wellTrained,
    load_percent: 60,
    gpus: { '2': 40, '4': 30, '8': 30 },
    cpus_per_gpu: spreadOf(12, 14, 16, 20, 24, 24),
    storage_ms_per_step: 120,
    checkpoint_minutes: 30,
    checkpoint_s: 15,
  },
  'small-run': {
    ...wellTrained,
    load_percent: 35,
    cpus_per_gpu: spreadOf(6, 8, 10, 16, 16, 16),
    checkpoint_minutes: 30,
    checkpoint_s: 5,
  },
  'detector-train': {
    ...wellTrained,
    load_percent: 56,
    cpus_per_gpu: spreadOf(14, 16, 16, 16, 16, 16),
    all_reduce_ms: 7,
    checkpoint_minutes: 30,
    checkpoint_s: 10,
  },
  'offline-scoring': {
    ...wellTrained,
    load_percent: 46,
    cpus_per_gpu: spreadOf(8, 10, 12, 12, 12, 12),
    checkpoint_minutes: 15,
    checkpoint_s: 2,
  },
  'speech-train': {
    ...wellTrained,
    load_percent: 40,
    cpus_per_gpu: spreadOf(8, 10, 12, 12, 12, 12),
    all_reduce_ms: 8,
    checkpoint_minutes: 15,
    checkpoint_s: 5,
  },
  'ci-check': { untagged_percent: 0, load_percent: 3 },
  'asr-sweep': { untagged_percent: 0, load_percent: 14, load_ms: 120, stopped_early_percent: 85 },
  'vision-notebook': { ...wellKept, load_percent: 14 },
  'nlp-notebook': { ...wellKept, load_percent: 11 },
  'dev-notebook': { ...wellKept, load_percent: 13 },
  'asr-notebook': { ...wellKept, load_percent: 10 },
  'chat-api': { ...wellScaled, share_percent: 46 },
  embeddings: { ...wellScaled, share_percent: 16 },
  'model-zoo': { ...wellScaled, share_percent: 20, peak_load_percent: 60 },
  'chat-standby': { share_percent: 5 },
  workstation: { share_percent: 100, used_days_percent: 85, forgotten_percent: 3 },
};

/** Batch work that takes the serving GPUs which the night leaves free, and gives way by being short. */
const nightScoring: Habit = {
  ...(unmanaged.habits.find(({ name }) => name === 'offline-scoring') as Training),
  ...wellTrained,
  name: 'night-scoring',
  pool: 'serve-l4',
  load_percent: 36,
  gpus: { '1': 1 },
  hours: spreadOf(0.1, 0.2, 0.6, 1.5, 2.5, 3),
  cpus_per_gpu: spreadOf(4, 4, 4, 4, 4, 4),
  cpu_ms_per_step: 1100,
  checkpoint_minutes: 15,
  checkpoint_s: 2,
};

/** The same organisation after it got its house in order: the same people and work, other numbers. */
export const wellRun: World = {
  ...unmanaged,
  name: 'well-run',
  pools: kept(unmanaged.pools, pools),
  teams: unmanaged.teams.filter(({ name }) => name !== 'growth'),
  habits: [...kept(unmanaged.habits, habits), nightScoring],
  sensors: { ...unmanaged.sensors, dead_exporter_percent: 1, no_profiling_percent: 1, clock_off_percent: 0 },
};
