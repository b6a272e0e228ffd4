import { checkSources } from '../check-sources.ts';
import type { SourceToKeep } from '../config/print-config.ts';
import { openSources } from './chosen-sources.ts';
import type { FoundSource } from './discover.ts';

export interface WorthKeeping {
  readonly kept: readonly SourceToKeep[];
  readonly left: readonly { readonly name: string; readonly says: string }[];
}

/**
 * What of the found sources goes into bursar.yaml: all that answer, and all that the user named. A command in PATH whose server
 * is not there would fail at every collection.
 */
export async function worthKeeping(found: readonly FoundSource[], named: boolean): Promise<WorthKeeping> {
  const sources = await openSources({ found, config: undefined });
  const checked = await checkSources(sources, new AbortController().signal);
  const kept: SourceToKeep[] = [];
  const left: { name: string; says: string }[] = [];
  for (const [index, { config, by }] of found.entries()) {
    const health = checked[index]?.health;
    const isDown = health === undefined || health.state === 'down';
    if (isDown && !named) left.push({ name: config.name, says: health?.says ?? 'no answer' });
    else kept.push({ config, by: isDown ? `${by}; it did not answer yet` : `${by}: ${health.says}` });
  }
  return { kept, left };
}
