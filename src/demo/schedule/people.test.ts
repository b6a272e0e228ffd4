import { describe, expect, it } from 'vitest';
import { worldOf, poolOf } from './small-world.ts';
import { peopleOf } from './people.ts';

const team = (name: string, users: string[]) => ({ name, users, utc_offset_hours: 0 });
const people = (gpus: number, ...teams: ReturnType<typeof team>[]) =>
  Object.fromEntries(peopleOf(worldOf([poolOf({})], [], { teams }), gpus));

describe('a team has', () => {
  it('the listed people, however small the fleet', () => {
    expect(people(1, team('nlp', ['mchen', 'aortiz']))).toEqual({ nlp: ['mchen', 'aortiz'] });
  });

  it('more of them in a larger one, a person for eight GPUs over all teams', () => {
    expect(people(48, team('nlp', ['mchen', 'aortiz']), team('asr', ['kim']))).toEqual({
      nlp: ['mchen', 'aortiz', 'mchen2', 'aortiz2'],
      asr: ['kim', 'kim2'],
    });
  });

  it('nobody twice, also if a number is taken', () => {
    const { nlp, asr } = people(80, team('nlp', ['mchen', 'mchen2']), team('asr', ['mchen']));
    const everybody = [...nlp!, ...asr!].filter((name) => name !== 'mchen');
    expect(new Set(everybody).size).toBe(everybody.length);
  });
});
