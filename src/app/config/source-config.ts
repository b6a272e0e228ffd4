import type { StatementConfig } from './statement-config.ts';
import type { SourceKind } from '../../facts/source.ts';
import type { RuleBook } from '../rules/rule.ts';
import type { SecretPlace } from './secret.ts';

/** A header's value as written, or where its secret is kept. */
export type HeaderValue = string | SecretPlace;
export type Headers = Readonly<Record<string, HeaderValue>>;

interface Timing {
  readonly name: string;
  /** How often to ask; the source's own distance where undefined. */
  readonly everyS?: number;
  /** How far back on first contact; everything where undefined. */
  readonly backfillS?: number;
}

export type PrometheusConfig = Timing & {
  readonly kind: 'prometheus';
  readonly url: string;
  readonly headers?: Headers;
  readonly matchers?: string;
  readonly cluster?: string;
  readonly nodeLabel?: string;
  readonly parallel?: number;
};

export type ScrapeConfig = Timing & {
  readonly kind: 'scrape';
  readonly targets: readonly { readonly url: string; readonly nodeId?: string }[];
  readonly headers?: Headers;
  readonly cluster?: string;
  readonly pods?: boolean;
};

export type LocalConfig = Timing & {
  readonly kind: 'local';
  readonly commandPrefix?: readonly string[];
  readonly node?: string;
};

export type KubernetesConfig = Timing & {
  readonly kind: 'kubernetes';
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly cluster?: string;
  readonly inCluster?: boolean;
};

export type SlurmConfig = Timing & {
  readonly kind: 'slurm';
  readonly commandPrefix?: readonly string[];
  readonly rest?: { readonly url: string; readonly user?: string; readonly token?: SecretPlace };
  readonly zone?: string;
  readonly cluster?: string;
};

export type AwsConfig = Timing & {
  readonly kind: 'aws';
  readonly regions?: readonly string[];
  readonly profile?: string;
  readonly cluster?: string;
};

export type VmFileConfig = Timing & { readonly kind: 'gcp' | 'azure'; readonly file: string };

/** One source of bursar.yaml, or one that was found: what `makeSource` makes a Source of. */
export type SourceConfig =
  PrometheusConfig | ScrapeConfig | LocalConfig | KubernetesConfig | SlurmConfig | AwsConfig | VmFileConfig;

/** What an hour of a GPU costs, as the user says. */
export interface RateConfig {
  readonly model?: string;
  readonly node?: string;
  readonly usdPerGpuHour: string;
  readonly from?: Date;
  readonly until?: Date;
}

/** Everything bursar.yaml says. */
export interface Config {
  /** Where it stands; undefined where there is none and everything is as usual. */
  readonly path?: string;
  /** Its folder: files named in it lie beside it. */
  readonly baseDir: string;
  readonly data?: string;
  readonly sources: readonly SourceConfig[];
  readonly rates: readonly RateConfig[];
  /** Whose money is whose; undefined where nothing is said. */
  readonly rules?: RuleBook;
  /** Where it says how statements are made out. */
  readonly statements?: StatementConfig;
}

/** What people call each kind. */
export const KIND_WORDS: Readonly<Record<SourceKind, string>> = {
  prometheus: 'Prometheus',
  kubernetes: 'Kubernetes',
  slurm: 'Slurm',
  local: 'nvidia-smi or rocm-smi',
  scrape: 'exporters',
  aws: 'AWS',
  gcp: 'Google Cloud',
  azure: 'Azure',
};
