import { chanceOf } from '../chance.ts';
import type { CourseRequest } from '../organisation.ts';
import { NOTHING, type Levels } from '../timeline.ts';
import type { Kernel } from '../world/world-schema.ts';
import type { Pace } from './pace.ts';

const FULL_PERMILLE = 1000;

/** While gradients are exchanged: what NCCL leaves of the work of the SMs and of the power. */
const EXCHANGING_SM = 0.15;
const EXCHANGING_POWER = 0.55;

/**
 * The kernel of a job as this job runs it: no two have the same model and batch. It is the same in all its lives;
 * replicas run one and the same service, so they share theirs.
 */
export function kernelOf({ world, scope, job }: CourseRequest): Kernel {
  const { habit } = job;
  const kernel = world.kernels[habit.kernel]!;
  const chance = habit.kind === 'serving' ? chanceOf(scope.seed, 'kernel', habit.name) : chanceOf(...job.key, 'kernel');
  const between = (least: number, most: number): number => least + (most - least) * chance.fraction();
  const scaled = (permille: number, factor: number): number => Math.min(FULL_PERMILLE, Math.round(permille * factor));
  const memory = between(0.6, 1.1);
  const [resident, sm, dram, power] = [between(0.85, 1.1), between(0.85, 1.1), between(0.85, 1.1), between(0.85, 1.1)];
  const engine = scaled(kernel.engine_permille, resident);
  // No SM is active while the engine is not, and no tensor pipe while its SM is not.
  const smActive = Math.min(engine, scaled(kernel.sm_permille, sm));
  return {
    ...kernel,
    engine_permille: engine,
    sm_permille: smActive,
    tensor_permille: Math.min(smActive, scaled(kernel.tensor_permille, sm)),
    dram_permille: scaled(kernel.dram_permille, dram),
    util_permille: scaled(kernel.util_permille, resident),
    power_permille: scaled(kernel.power_permille, power),
    memory_permille: scaled(kernel.memory_permille, memory),
  };
}

/** What the instruments show while nothing but this work runs. */
export function atFullPace(kernel: Kernel): Levels {
  return {
    engine: kernel.engine_permille,
    sm: kernel.sm_permille,
    tensor: kernel.tensor_permille,
    dram: kernel.dram_permille,
    util: kernel.util_permille,
    power: kernel.power_permille,
    memory: kernel.memory_permille,
    pcie: kernel.pcie_permille,
    nvlink: kernel.nvlink_permille,
  };
}

/** What they show while a process holds its memory and runs nothing. */
export function holdingMemory(kernel: Kernel): Levels {
  return { ...NOTHING, memory: kernel.memory_permille };
}

/**
 * What they show at a pace: engines and power follow the part of the time that computes; memory does not, it is
 * filled all the while. Utilisation is the more flattering number: some kernel is still resident in part of the waits.
 * Gradients are exchanged by a kernel, too, which keeps the engine running on a few SMs and no tensor pipe. Batches
 * come over PCIe as often as steps begin; NVLink carries gradients only.
 */
export function atPace(kernel: Kernel, { stepping, allReduce }: Pace): Levels {
  const during = (permille: number, time: number): number => Math.round((permille * time) / FULL_PERMILLE);
  const running = stepping + allReduce;
  const onSms = stepping + allReduce * EXCHANGING_SM;
  return {
    engine: during(kernel.engine_permille, running),
    sm: during(kernel.sm_permille, onSms),
    tensor: during(kernel.tensor_permille, stepping),
    dram: during(kernel.dram_permille, onSms),
    util: during(kernel.util_permille, Math.min(FULL_PERMILLE, (running * 5) / 4)),
    power: during(kernel.power_permille, stepping + allReduce * EXCHANGING_POWER),
    memory: kernel.memory_permille,
    pcie: during(kernel.pcie_permille, stepping),
    nvlink: during(kernel.nvlink_permille, allReduce),
  };
}
