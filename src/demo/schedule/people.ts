import type { World } from '../world/world-schema.ts';

/** A person more for so many GPUs more: what one finds where GPUs are shared by whoever needs them. */
const GPUS_PER_PERSON = 8;

/** Who works in each team of a fleet of this size: the listed people first, then `mchen2`, `mchen3` … */
export function peopleOf(world: World, gpus: number): ReadonlyMap<string, readonly string[]> {
  const listed = world.teams.reduce((sum, { users }) => sum + users.length, 0);
  const wanted = Math.max(listed, Math.round(gpus / GPUS_PER_PERSON));
  const taken = new Set(world.teams.flatMap(({ users }) => users));
  return new Map(
    world.teams.map(({ name, users }) => {
      const people = [...users];
      const inTeam = Math.round((wanted * users.length) / listed);
      for (let number = 2; people.length < inTeam; number += 1) {
        const more = users.map((user) => `${user}${number}`).filter((user) => !taken.has(user));
        people.push(...more.slice(0, inTeam - people.length));
      }
      for (const person of people) taken.add(person);
      return [name, people];
    }),
  );
}
