import { nearestName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { Source } from '../../facts/source.ts';
import { findConfig } from '../config/config-file.ts';
import type { Config } from '../config/source-config.ts';
import { asCollector } from './collect.ts';
import { keepRates } from './config-rates.ts';
import { makeSource } from './make-source.ts';
import type { MakeContext } from './make-source.ts';

/** The configuration to collect by; without one the user is told how to get it. */
export async function configToCollect(named: string | undefined): Promise<Config> {
  const config = await findConfig(named);
  if (config !== undefined && config.sources.length > 0) return config;
  throw new OperationError('no-sources', `${config?.path ?? 'bursar.yaml'} names no source to collect from`, {
    hint: 'bursar init finds what you run and writes it down.',
  });
}

/** The sources of the configuration, or those of them that are named. */
export async function configuredSources(
  config: Config,
  context: MakeContext,
  only: readonly string[] = [],
): Promise<Source[]> {
  const names = config.sources.map(({ name }) => name);
  for (const name of only) {
    if (names.includes(name)) continue;
    const near = nearestName(name, names);
    throw new OperationError(
      'unknown-source',
      `there is no source ${name}${near === undefined ? '' : ` (nearest: ${near})`}`,
      {
        hint: `One of ${names.join(', ')}.`,
      },
    );
  }
  const wanted = config.sources.filter(({ name }) => only.length === 0 || only.includes(name));
  return Promise.all(
    wanted.map(async (each) => ({
      ...(await makeSource(each, context)),
      ...(each.backfillS !== undefined && { backfillS: each.backfillS }),
    })),
  );
}

/** Rates of the configuration are facts like others: they count from the next answer on. */
export async function keepConfiguredRates(config: Config, dataDir: string): Promise<void> {
  await asCollector({ dataDir }, async (space) => {
    await keepRates(space, { name: 'bursar.yaml', reads: config.path ?? 'bursar.yaml' }, config.rates);
    // What was said on the command line of a first look was meant until something was written down.
    if (config.rates.length > 0) await keepRates(space, { name: 'look', reads: 'bursar look --rate' }, []);
  });
}
