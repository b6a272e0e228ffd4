import { Option } from 'commander';
import type { Command } from 'commander';
import type { SourceFlags } from '../app/first-look/discover.ts';
import { shellWord } from '../report/shell-word.ts';

export interface SourceOptions extends SourceFlags {
  readonly config?: string;
}

const collect = (text: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), text];

export function configOption(): Option {
  return new Option('--config <file>', 'the configuration (default: bursar.yaml in this folder, if there is one)');
}

/** Gives a command the flags that name sources; without any, what is there is found. */
export function withSourceOptions(command: Command): Command {
  return command
    .addOption(new Option('--prometheus <url>', 'read this Prometheus; may be repeated').argParser(collect))
    .option('--kubeconfig <file>', 'read the Kubernetes cluster of this file')
    .option('--slurm', 'read Slurm by its commands')
    .option('--local', 'read the GPUs of this machine by nvidia-smi or rocm-smi')
    .option('--aws', 'read GPU instances with the AWS credentials of this environment')
    .addOption(configOption());
}

/** The same flags as somebody would type them, without passwords. */
export function sourceWords({ prometheus = [], kubeconfig, slurm, local, aws, config }: SourceOptions): string[] {
  return [
    ...prometheus.map((url) => `--prometheus ${shellWord(withoutPassword(url))}`),
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${shellWord(kubeconfig)}`]),
    ...(slurm === true ? ['--slurm'] : []),
    ...(local === true ? ['--local'] : []),
    ...(aws === true ? ['--aws'] : []),
    ...(config === undefined ? [] : [`--config ${shellWord(config)}`]),
  ];
}

function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return url.replace(/\/\/[^/@]*@/, '//');
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.search = '';
  return shown.href;
}
