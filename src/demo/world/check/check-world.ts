import { checkHabit } from './check-habit.ts';
import { checkPool, hasDecimals } from './check-pool.ts';
import type { Path } from '../../../facts/yaml/schema-walk.ts';
import type { FileProblem } from '../../../facts/yaml/file-problem.ts';
import type { Pool, World } from '../world-schema.ts';

/** More than the pool has, so that queues form; beyond this they would only grow. */
const ASKED_PERCENT_MAX = 130;

/** What is wrong with a world although every field of it is right: names, sums, and what cannot be. */
export function checkWorld(world: World): FileProblem[] {
  return [
    ...Object.entries(world.gpus).flatMap(([name, gpu]) =>
      gpu.rest_w < gpu.full_w
        ? []
        : [{ path: ['gpus', name, 'rest_w'], what: `must be less than full_w ${gpu.full_w}, but is ${gpu.rest_w}` }],
    ),
    ...Object.entries(world.gpus).flatMap(([name, { rest_w, held_w, full_w }]) =>
      rest_w >= full_w || (held_w >= rest_w && held_w < full_w)
        ? []
        : [
            {
              path: ['gpus', name, 'held_w'],
              what: `must be from rest_w ${rest_w} to less than full_w ${full_w}, but is ${held_w}`,
            },
          ],
    ),
    ...repeated(world.providers, ['providers']),
    ...world.providers.flatMap(checkProvider),
    ...checkCurrencies(world.providers),
    ...repeated(world.pools, ['pools']),
    ...checkShares(world.pools),
    ...world.pools.flatMap((pool, index) => checkPool(world, pool, index)),
    ...repeated(world.teams, ['teams']),
    ...world.teams.flatMap(({ users }, index) => repeatedUsers(users, ['teams', index, 'users'])),
    ...checkCalendar(world.calendar),
    ...repeated(world.habits, ['habits']),
    ...world.habits.flatMap((habit, index) => checkHabit(world, habit, index)),
    ...world.pools.flatMap((pool) => checkAsked(world, pool)),
  ];
}

function repeated(members: readonly { readonly name: string }[], path: Path): FileProblem[] {
  const first = new Map<string, number>();
  return members.flatMap(({ name }, index) => {
    const before = first.get(name);
    if (before === undefined) {
      first.set(name, index);
      return [];
    }
    return [
      {
        path: [...path, index, 'name'],
        what: `the name ${JSON.stringify(name)} is taken by ${path.join('.')}[${before}]`,
      },
    ];
  });
}

function repeatedUsers(users: readonly string[], path: Path): FileProblem[] {
  return users.flatMap((user, index) =>
    users.indexOf(user) === index
      ? []
      : [{ path: [...path, index], what: `the login ${JSON.stringify(user)} stands twice` }],
  );
}

function checkProvider(provider: World['providers'][number], index: number): FileProblem[] {
  const path = ['providers', index, 'usd_per_unit'];
  const rate = provider.usd_per_unit;
  if (rate === 0) return [{ path, what: 'must be more than 0, but is 0' }];
  if (provider.currency === 'USD' && rate !== 1) return [{ path, what: `must be 1 for USD, but is ${rate}` }];
  return hasDecimals(rate, 4) ? [] : [{ path, what: `must have at most 4 decimals, but is ${rate}` }];
}

/** Reports add dollars up, for which a currency has one rate. */
function checkCurrencies(providers: World['providers']): FileProblem[] {
  return providers.flatMap(({ currency, usd_per_unit: rate }, index) => {
    const before = providers.findIndex((one) => one.currency === currency);
    const first = providers[before]!.usd_per_unit;
    // That a dollar is worth one is told already.
    if (first === rate || currency === 'USD') return [];
    const what = `one ${currency} is worth ${first} at providers[${before}], but is ${rate} here`;
    return [{ path: ['providers', index, 'usd_per_unit'], what }];
  });
}

function checkShares(pools: readonly Pool[]): FileProblem[] {
  const total = pools.reduce((sum, pool) => sum + pool.share_percent, 0);
  // The sum of decimals is off by less than this, and a share is not given finer.
  if (Math.abs(total - 100) <= 0.01) return [];
  return [{ path: ['pools'], what: `the pools’ share_percent must add up to 100, but add up to ${rounded(total)}` }];
}

function checkCalendar({
  day_begins_hour: begins,
  day_ends_hour: ends,
  submissions_by_hour,
}: World['calendar']): FileProblem[] {
  const problems: FileProblem[] = [];
  if (ends <= begins) {
    problems.push({
      path: ['calendar', 'day_ends_hour'],
      what: `must come after day_begins_hour ${begins}, but is ${ends}`,
    });
  }
  if (submissions_by_hour.every((weight) => weight === 0)) {
    problems.push({ path: ['calendar', 'submissions_by_hour'], what: 'must have an hour with a weight above 0' });
  }
  return problems;
}

/** Nobody can run more than there is: the queue of such a pool would grow for ever. */
function checkAsked(world: World, pool: Pool): FileProblem[] {
  const asked = world.habits
    .map((habit, index) => {
      const field = 'load_percent' in habit ? 'load_percent' : 'share_percent';
      return {
        habit,
        path: ['habits', index, field],
        percent: 'load_percent' in habit ? habit.load_percent : habit.share_percent,
      };
    })
    .filter(({ habit }) => habit.pool === pool.name);
  const total = asked.reduce((sum, { percent }) => sum + percent, 0);
  if (total <= ASKED_PERCENT_MAX + 0.001) return [];
  const most = asked.reduce((left, right) => (right.percent > left.percent ? right : left));
  const parts = asked.map(({ habit, percent }) => `${habit.name} ${rounded(percent)}`).join(', ');
  const what =
    `more jobs than anyone could run: the habits of pool ${pool.name} ask for ${rounded(total)} % of its GPU-hours ` +
    `(${parts}); at most ${ASKED_PERCENT_MAX}`;
  return [{ path: most.path, what }];
}

/** Without the digits that only binary fractions have. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
