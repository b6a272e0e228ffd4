import { printWorld, worldJsonSchema } from '../../demo/world/print-world.ts';
import type { World } from '../../demo/world/world-schema.ts';

/** The world as a file people can change, every number with its sentence. */
export function worldText(world: World): string {
  return printWorld(world).trimEnd();
}

/** For editors that check a file while it is written. */
export function worldSchemaText(): string {
  return JSON.stringify(worldJsonSchema(), null, 2);
}
