import { readYaml } from '../../facts/yaml/yaml-file.ts';
import { checkWorld } from './check/check-world.ts';
import { isSpread } from './field.ts';
import { worldSchema, type World } from './world-schema.ts';

/**
 * The world a file describes. Whatever is wrong with it is told at once, each problem with its line and column, what
 * stands there, and the sentence of the field.
 */
export function readWorld(text: string, label: string): World {
  return readYaml(text, label, {
    noun: 'a world',
    schema: worldSchema,
    check: checkWorld,
    isOne: isSpread,
    errorCode: 'bad-world',
    hint: 'A world that is right, with the meaning of each number: bursar demo --print-world > my-world.yaml',
  });
}
