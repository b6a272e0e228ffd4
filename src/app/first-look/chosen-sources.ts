import type { Source } from '../../facts/source.ts';
import { makeSource } from '../collect/make-source.ts';
import { findConfig } from '../config/config-file.ts';
import type { Config, SourceConfig } from '../config/source-config.ts';
import { discover, namesSources } from './discover.ts';
import type { FoundSource, MissingSource, SourceFlags } from './discover.ts';
import { thisMachine } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';

/** What will be read: what the user named, else what bursar.yaml says, else what is there. */
export interface ChosenSources {
  readonly by: 'flags' | 'config' | 'found';
  readonly config: Config | undefined;
  readonly found: readonly FoundSource[];
  readonly missing: readonly MissingSource[];
}

export async function chooseSources(
  flags: SourceFlags & { readonly config?: string },
  around: Surroundings = thisMachine(),
): Promise<ChosenSources> {
  const config = await findConfig(flags.config);
  const named = namesSources(flags);
  if (!named && config !== undefined && config.sources.length > 0) return configuredSources(config);
  return { by: named ? 'flags' : 'found', config, ...(await discover(flags, around)) };
}

/** What bursar.yaml says and nothing else: a server reads what it was given. */
export function configuredSources(config: Config | undefined): ChosenSources {
  const found = (config?.sources ?? []).map((source) => ({ config: source, by: config?.path ?? '' }));
  return { by: 'config', config, found, missing: [] };
}

/** Sources that can be asked, in the order they were chosen. */
export async function openSources(
  { found, config }: Pick<ChosenSources, 'found' | 'config'>,
  env: Surroundings['env'] = process.env,
): Promise<Source[]> {
  const context = { env, baseDir: config?.baseDir ?? '.' };
  return Promise.all(found.map(({ config: source }: { config: SourceConfig }) => makeSource(source, context)));
}
