import { OperationError } from '../../facts/operation-error.ts';
import type { Advice, SourceHealth } from '../../facts/source.ts';
import type { SlurmCommands } from './command-reader.ts';
import type { SlurmNode } from './parse/slurm-node.ts';
import type { SlurmRest } from './rest-reader.ts';
import { NO_ACCOUNTING } from './slurm-reader.ts';

const CHECK_MS = 8_000;
const HOUR_S = 3600;

const TELEMETRY: Advice = {
  missing: 'Slurm does not measure what GPUs do',
  sharpens: 'tells idle from computing',
  todo: 'Add a source with telemetry: bursar look --prometheus URL, or scrape dcgm-exporter on the nodes.',
};
const NO_GPU_TRES: Advice = {
  missing: 'sacct does not count GPUs (AccountingStorageTRES has no gres/gpu)',
  sharpens: 'tells how many GPUs an ended job had; without it only jobs seen running are known',
  todo: 'slurm.conf: AccountingStorageTRES=gres/gpu,gres/gpu:h100 and restart slurmctld',
};

/** How Slurm's commands are; never throws for what the outside world does wrong. */
export async function checkCommands(commands: SlurmCommands, signal: AbortSignal): Promise<SourceHealth> {
  return withoutThrowing(async () => {
    const config = settingsOf(await commands.ask(['scontrol', 'show', 'config'], signal, CHECK_MS));
    const { items: nodes } = await commands.nodes(signal);
    const name = `Slurm ${config.get('SLURM_VERSION') ?? ''}, cluster ${config.get('ClusterName') ?? 'without a name'}`;
    const advice: Advice[] = [TELEMETRY];
    const troubles: { says: string; todo: string }[] = [];
    const gpus = gpusOf(nodes);
    if (gpus > 0 && !/gres\/gpu/.test(config.get('AccountingStorageTRES') ?? 'gres/gpu')) advice.push(NO_GPU_TRES);
    const accounting = await askAccounts(commands, signal);
    if (accounting !== undefined) troubles.push(accounting);
    const hidden = await hiddenJobs(commands, config.get('PrivateData') ?? '', signal);
    if (hidden !== undefined) troubles.push(hidden);
    return healthOf(`${name}, ${nodes.length} nodes, ${gpus} GPUs`, gpus, troubles, advice);
  });
}

/** How slurmrestd is. */
export async function checkRest(rest: SlurmRest, signal: AbortSignal): Promise<SourceHealth> {
  return withoutThrowing(async () => {
    const version = await rest.version(signal);
    const [release, { items: nodes }] = [await rest.release(signal), await rest.nodes(signal)];
    const gpus = gpusOf(nodes);
    const advice: Advice[] = [
      TELEMETRY,
      {
        missing: 'slurmrestd does not tell past outages of nodes',
        sharpens: 'tells lost time before today from unallocated time',
        todo: 'Read Slurm by its commands instead: leave out rest in bursar.yaml.',
      },
    ];
    if (!rest.tellsEveryLife(version)) {
      advice.push({
        missing: `slurmrestd v0.0.${version} tells only the last life of a requeued job`,
        sharpens: 'counts GPU time of jobs that were preempted or requeued between two polls',
        todo: 'Read Slurm by its commands instead, or update to Slurm 23.11.',
      });
    }
    const troubles: { says: string; todo: string }[] = [];
    try {
      const now = Math.floor(Date.now() / 1000);
      await rest.hasJobs(now - HOUR_S, now, signal);
    } catch (failure) {
      troubles.push(troubleOf(failure));
    }
    const name = `Slurm ${release ?? 'of unknown version'} by slurmrestd v0.0.${version}`;
    return healthOf(`${name}, ${nodes.length} nodes, ${gpus} GPUs`, gpus, troubles, advice);
  });
}

async function withoutThrowing(check: () => Promise<SourceHealth>): Promise<SourceHealth> {
  try {
    return await check();
  } catch (failure) {
    const { says, todo } = troubleOf(failure);
    return { state: 'down', says, todo, advice: [] };
  }
}

function healthOf(
  says: string,
  gpus: number,
  troubles: readonly { readonly says: string; readonly todo: string }[],
  advice: readonly Advice[],
): SourceHealth {
  const [first] = troubles;
  if (first === undefined) return { state: 'ok', says, gpus, advice };
  return {
    state: 'partial',
    says: `${says}; ${troubles.map((each) => each.says).join('; ')}`,
    todo: first.todo,
    gpus,
    advice,
  };
}

function troubleOf(failure: unknown): { says: string; todo: string } {
  if (!(failure instanceof OperationError)) throw failure;
  return { says: failure.message, todo: failure.hint ?? 'Try it by hand: scontrol ping' };
}

function gpusOf(nodes: readonly SlurmNode[]): number {
  return nodes.reduce((sum, { gpus = 0 }) => sum + gpus, 0);
}

/** `Name = value` lines of `scontrol show config`. */
export function settingsOf(text: string): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\S+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) settings.set(name, value);
  }
  return settings;
}

async function askAccounts(
  commands: SlurmCommands,
  signal: AbortSignal,
): Promise<{ says: string; todo: string } | undefined> {
  try {
    const now = Math.floor(Date.now() / 1000);
    await commands.hasJobs(now - HOUR_S, now, signal);
    return undefined;
  } catch (failure) {
    const { says, todo } = troubleOf(failure);
    const isOff = failure instanceof OperationError && failure.code === NO_ACCOUNTING;
    return { says: isOff ? 'no accounting: only jobs seen running are known' : says, todo };
  }
}

/** With PrivateData=jobs an ordinary user sees only their own jobs, and would take everybody else's GPUs for unused. */
async function hiddenJobs(
  commands: SlurmCommands,
  privateData: string,
  signal: AbortSignal,
): Promise<{ says: string; todo: string } | undefined> {
  if (!/\b(?:jobs|usage)\b/.test(privateData)) return undefined;
  const who = (await commands.ask(['id', '-un'], signal, CHECK_MS)).trim();
  if (who === 'root' || who === 'slurm' || !/^[\w.@-]+$/.test(who)) return undefined;
  const level = await commands.ask(
    ['sacctmgr', '-n', '-P', 'show', 'user', who, 'format=AdminLevel'],
    signal,
    CHECK_MS,
  );
  if (/operator|administrator/i.test(level)) return undefined;
  return {
    says: `PrivateData=${privateData}: ${who} sees only their own jobs`,
    todo: `Let a Slurm administrator run: sacctmgr modify user ${who} set adminlevel=operator`,
  };
}
