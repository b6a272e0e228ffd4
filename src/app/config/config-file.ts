import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';
import { readYaml } from '../../facts/yaml/yaml-file.ts';
import { parseTime } from '../../money/period.ts';
import { readRules } from '../rules/read-rules.ts';
import { checkConfig, KINDS } from './check-config.ts';
import { configSchema } from './config-schema.ts';
import type { RateText, SourceText } from './config-schema.ts';
import { lengthSeconds } from './length-of-time.ts';
import type { Config, RateConfig, SourceConfig } from './source-config.ts';
import { statementConfig } from './statement-config.ts';

export const CONFIG_FILE = 'bursar.yaml';

const HINT = 'docs/CONFIG.md has an example of every field; bursar init --print-schema helps editors.';

/** The configuration beside the user, or the one named; undefined where nobody wrote one and none was named. */
export async function findConfig(named: string | undefined, folder = '.'): Promise<Config | undefined> {
  const path = named ?? join(folder, CONFIG_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (code === 'ENOENT' && named === undefined) return undefined;
    throw new OperationError('no-config', `${path} cannot be read: ${code === 'ENOENT' ? 'it is not there' : code}`, {
      hint: named === undefined ? `Check who may read ${path}.` : 'bursar init writes a bursar.yaml of what it finds.',
      cause,
    });
  }
  return { ...readConfig(text, path), path };
}

/** What the text of a bursar.yaml says; every problem with its line and column. */
export function readConfig(text: string, path = CONFIG_FILE): Config {
  const written = readYaml(text, path, {
    noun: 'bursar.yaml',
    schema: configSchema,
    check: checkConfig,
    hides: (place) =>
      place.some((key) => key === 'headers' || key === 'token' || key === 'url' || key === 'prometheus'),
    errorCode: 'bad-config',
    hint: HINT,
  });
  const baseDir = dirname(path);
  const statements = statementConfig(written.teams, written.statements);
  const beside = (file: string): string => (isAbsolute(file) || baseDir === '.' ? file : join(baseDir, file));
  return {
    baseDir,
    ...(written.data !== undefined && { data: beside(written.data) }),
    sources: (written.sources ?? []).map((source) => sourceOf(source, beside)),
    rates: (written.rates ?? []).map(rateOf),
    rules: readRules(written),
    ...(statements !== undefined && { statements }),
  };
}

type Beside = (file: string) => string;

function sourceOf(source: SourceText, beside: Beside): SourceConfig {
  const timing = {
    name: source.name,
    ...(source.every !== undefined && { everyS: lengthSeconds(source.every) }),
    ...(source.backfill !== undefined && { backfillS: lengthSeconds(source.backfill) }),
  };
  const kind = KINDS.find((each) => source[each] !== undefined);
  switch (kind) {
    case 'prometheus': {
      const form = typeof source.prometheus === 'string' ? { url: source.prometheus } : source.prometheus;
      const { url = '', node_label: nodeLabel, ...more } = form ?? {};
      return defined({ kind, ...timing, url, nodeLabel, ...more });
    }
    case 'scrape': {
      const form = Array.isArray(source.scrape) ? { targets: source.scrape } : source.scrape;
      const targets = (form?.targets ?? []).map((target) =>
        typeof target === 'string' ? { url: target } : defined({ url: target.url, nodeId: target.node }),
      );
      return defined({ kind, ...timing, ...form, targets });
    }
    case 'local': {
      const { command_prefix: prefix, node } = source.local ?? {};
      return defined({ kind, ...timing, node, commandPrefix: words(prefix) });
    }
    case 'kubernetes': {
      const { kubeconfig, in_cluster: inCluster, ...more } = source.kubernetes ?? {};
      const file = kubeconfig === undefined ? undefined : beside(kubeconfig);
      return defined({ kind, ...timing, ...more, inCluster, kubeconfig: file });
    }
    case 'slurm': {
      const { command_prefix: prefix, rest, ...more } = source.slurm ?? {};
      return defined({
        kind,
        ...timing,
        ...more,
        commandPrefix: words(prefix),
        rest: rest === undefined ? undefined : defined(rest),
      });
    }
    case 'aws':
      return defined({ kind, ...timing, ...source.aws });
    case 'gcp':
      return { kind, ...timing, file: beside(source.gcp?.file ?? '') };
    case 'azure':
      return { kind, ...timing, file: beside(source.azure?.file ?? '') };
    case undefined:
      throw new OperationError('bad-config', `the source ${source.name} has no kind`, { hint: HINT });
  }
}

function rateOf({ model, node, usd_per_gpu_hour: usd, from, until }: RateText): RateConfig {
  const date = (text: string | undefined): Date | undefined => {
    const time = text === undefined ? undefined : parseTime(text);
    return time?.ok === true ? new Date(time.ms) : undefined;
  };
  return defined({ model, node, usdPerGpuHour: decimalText(usd), from: date(from), until: date(until) });
}

/** At most nine decimals and no exponent, as rates are kept. */
function decimalText(usd: number): string {
  return usd.toFixed(9).replace(/\.?0+$/, '');
}

/** `ssh box1` and `[ssh, box1]` are the same; there is no shell, so nothing else in it has a meaning. */
function words(prefix: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof prefix === 'string' ? prefix.trim().split(/\s+/) : prefix;
}

type Defined<Value> = {
  [Key in keyof Value as undefined extends Value[Key] ? never : Key]: Value[Key];
} & {
  [Key in keyof Value as undefined extends Value[Key] ? Key : never]?: Exclude<Value[Key], undefined>;
};

/** The same without what is not said. */
function defined<Value extends object>(value: Value): Defined<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Defined<Value>;
}
