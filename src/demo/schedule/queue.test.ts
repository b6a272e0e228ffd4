import { describe, expect, it } from 'vitest';
import { chanceOf } from '../chance.ts';
import { machineOf } from '../fleet/machines.ts';
import { type Job, NO_PROGRESS } from '../organisation.ts';
import type { Habit } from '../world/habit-schema.ts';
import type { Pool } from '../world/world-schema.ts';
import type { Machine, Tenancy } from './machine.ts';
import { PoolFloor } from './pool-floor.ts';
import { PoolQueue } from './queue.ts';
import { habitOf, poolOf, worldOf } from './small-world.ts';

const HOUR_S = 3600;

/** A pool with its queue, told hour by hour: who asks, who ends, and who started where. */
function pool(changes: Partial<Pool>, nodes: number) {
  const world = worldOf([poolOf(changes)], []);
  const floor = new PoolFloor(world.pools[0]!, chanceOf('test'));
  const queue = new PoolQueue(floor);
  const held = new Map<string, Tenancy>();
  const machines: Machine[] = Array.from({ length: nodes }, (_, index) => {
    const life = { presentFrom: 0, presentUntil: 1e9, states: [{ from: 0, until: 1e9, state: 'up' }] } as const;
    const machine = floor.appear(machineOf(world, { seed: 1, pool: floor.pool, number: index + 1, ...life }), []);
    floor.turn(machine, true);
    return machine;
  });
  const ask = (name: string, gpus: number, hour: number, kind: Habit['kind'] = 'training'): void => {
    const job: Job = {
      id: name,
      habit: habitOf(kind, {}),
      team: world.teams[0]!,
      pool: floor.pool,
      user: 'mchen',
      name,
      gpus,
      submittedAt: hour * HOUR_S,
      tagged: true,
      place: { index: 0, of: 1 },
      key: [name],
    };
    queue.join({ job, number: 0, progress: NO_PROGRESS, since: hour * HOUR_S });
  };
  /** Who starts in this hour; each is meant to stay for so long, until `end` says otherwise. */
  const start = (hour: number, stayHours = 1): string[] => {
    const started: string[] = [];
    queue.startWhatFits(hour * HOUR_S, ({ job }, seats) => {
      held.set(job.name, floor.take(seats, (hour + stayHours) * HOUR_S));
      started.push(job.name);
    });
    return started;
  };
  const end = (name: string): void => floor.giveBack(held.get(name)!);
  const where = (name: string) => [...new Set(held.get(name)!.seats.map(({ machine }) => machine))];
  const devices = (name: string) => held.get(name)!.seats.map(({ slot }) => slot.device);
  return { floor, machines, ask, start, end, where, devices };
}

describe('of those who wait', () => {
  it('who came first starts first, and who fits passes who does not', () => {
    const { ask, start, end } = pool({}, 1);
    ask('six', 6, 0);
    ask('eight', 8, 0);
    ask('two', 2, 0);
    ask('one', 1, 0);
    expect(start(0)).toEqual(['six', 'two']);
    end('two');
    expect(start(1)).toEqual(['one']);
    end('six');
    end('one');
    expect(start(2)).toEqual(['eight']);
  });

  it('a job waits beside free GPUs where none of the machines has enough of them', () => {
    const { ask, start, machines } = pool({ placement: 'spread' }, 2);
    for (const name of ['a', 'b']) ask(name, 1, 0);
    ask('eight', 8, 0);
    expect(start(0)).toEqual(['a', 'b']);
    expect(machines.map(({ free }) => free)).toEqual([7, 7]);
  });

  it('replicas go before jobs that came earlier', () => {
    const { ask, start } = pool({ gpus_per_node: 1 }, 1);
    ask('run', 1, 0);
    ask('replica', 1, 1, 'serving');
    expect(start(1)).toEqual(['replica']);
  });

  it('who has waited for hours has a machine kept, which nobody else gets', () => {
    const { ask, start, end } = pool({}, 1);
    ask('four', 4, 0);
    expect(start(0, 9)).toEqual(['four']);
    ask('eight', 8, 0);
    ask('small', 1, 1);
    expect(start(1, 20)).toEqual(['small']); // An hour is not long.
    end('small');
    expect(start(5)).toEqual([]); // Kept from now on.
    ask('late', 1, 6);
    expect(start(6)).toEqual([]);
    end('four');
    expect(start(9)).toEqual(['eight']);
    end('eight');
    expect(start(10)).toEqual(['late']);
  });

  it('nothing is kept for what cannot start within a day', () => {
    const { ask, start } = pool({}, 1);
    ask('four', 4, 0);
    start(0, 200);
    ask('eight', 8, 0);
    expect(start(6)).toEqual([]);
    ask('small', 1, 7);
    expect(start(7)).toEqual(['small']);
  });

  it('a kept machine that goes down is kept no longer, and its job starts elsewhere', () => {
    const { ask, start, end, floor, where, machines } = pool({}, 2);
    ask('a', 5, 0);
    ask('b', 5, 0);
    start(0, 9);
    ask('eight', 8, 0);
    start(5);
    const kept = machines.find(({ isReserved }) => isReserved)!;
    const [other, name] = where('a')[0] === kept ? ['b', 'a'] : ['a', 'b'];
    end(name);
    floor.turn(kept, false);
    expect(machines.some(({ isReserved }) => isReserved)).toBe(false);
    end(other);
    expect(start(6)).toEqual(['eight']);
    expect(where('eight')).not.toContain(kept);
  });

  it('who needs several machines gets whole ones', () => {
    const { ask, start, end, where, devices } = pool({}, 3);
    ask('one', 1, 0);
    ask('twenty-four', 24, 0);
    ask('sixteen', 16, 0);
    expect(start(0)).toEqual(['one', 'sixteen']);
    expect([where('sixteen').length, new Set(devices('sixteen')).size]).toEqual([2, 16]);
    expect(where('sixteen')).not.toContain(where('one')[0]);
    end('one');
    end('sixteen');
    expect(start(1)).toEqual(['twenty-four']);
  });
});

describe('a job is put', () => {
  it.each([
    ['pack', 1],
    ['spread', 4],
  ] as const)('where the pool says: by %s four small ones are on %s of four machines', (placement, want) => {
    const { ask, start, where } = pool({ placement }, 4);
    for (const name of ['a', 'b', 'c', 'd']) ask(name, 2, 0);
    start(0);
    expect(new Set(['a', 'b', 'c', 'd'].flatMap(where)).size).toBe(want);
  });

  it('beside at most as many others on a GPU as there are slices', () => {
    const { ask, start } = pool({ gpus_per_node: 1, sharing: 'time-slice', time_slices: 4 }, 2);
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    for (const name of names) ask(name, 1, 0);
    expect(start(0)).toEqual(names.slice(0, 8));
  });

  it('on different GPUs if it asks for several shared ones', () => {
    const { ask, start, devices } = pool({ gpus_per_node: 2, sharing: 'time-slice', time_slices: 2 }, 1);
    ask('pair', 2, 0);
    ask('one', 1, 0);
    ask('other', 1, 0);
    expect(start(0)).toEqual(['pair', 'one', 'other']);
    expect(new Set(devices('pair')).size).toBe(2);
  });

  it('on slices, not on the GPU they are cut from', () => {
    const { ask, start, devices } = pool({ gpus_per_node: 1, sharing: 'mig', mig_profiles: ['3g.40gb', '1g.10gb'] }, 1);
    for (const name of ['a', 'b', 'c']) ask(name, 1, 0);
    expect(start(0)).toEqual(['a', 'b']);
    expect(['a', 'b'].flatMap(devices).map(({ migProfile }) => migProfile)).toEqual(['3g.40gb', '1g.10gb']);
  });

  it('on no machine that is out of service', () => {
    const { ask, start, floor, machines } = pool({ gpus_per_node: 1 }, 2);
    floor.turn(machines[0]!, false);
    ask('a', 1, 0);
    ask('b', 1, 0);
    expect(start(0)).toEqual(['a']);
    floor.turn(machines[0]!, true);
    expect(start(1)).toEqual(['b']);
  });
});
