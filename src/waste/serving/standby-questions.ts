import type { Claim } from '../../facts/detector.ts';
import type { Service } from './oversized-rows.ts';
import { commentLine, stopCommand } from '../stop-command.ts';
import { countWords, gpuHourWords, gpuWords, moneyWords } from '../wording.ts';

/** Named or labelled so, or without a second of work while a service of the same family serves beside it. */
export function isStandby(service: Service, services: readonly Service[]): boolean {
  if (service.isStandby) return true;
  const family = ({ name }: Service): string => name.split(/[-_.]/)[0] ?? name;
  return (
    service.busyUnits === 0n &&
    services.some(
      (other) =>
        other.busyUnits > 0n &&
        other.cluster === service.cluster &&
        other.namespace === service.namespace &&
        family(other) === family(service),
    )
  );
}

const QUESTION = { isQuestion: true, takes: [], fix: [] } as const;

export function standbyQuestion(standby: Service): Claim {
  const { service, name, namespace, lastSubject, busyUnits, isStandby: isNamed, heldUnits, usdMicros } = standby;
  const served = busyUnits === 0n ? 'served nothing in the window' : 'is called a standby';
  const gpuSeconds = Number(heldUnits / 63_000n);
  const daySeconds = Math.max(1, standby.days) * 86_400;
  const replicas = Math.max(1, Math.round(standby.heldS / daySeconds));
  const gpus = Math.max(1, Math.round((gpuSeconds * 10) / daySeconds)) / 10;
  return {
    ...QUESTION,
    about: `${service} standby`,
    ownerSubject: lastSubject,
    what: `${name} ${served}: ${replicas === 1 ? 'is' : 'are'} ${countWords(replicas, 'replica')} of it (${gpuWords(gpus, null)}) kept warm on purpose?`,
    because: [
      `${gpuHourWords(gpuSeconds)} held in ${countWords(standby.days, 'day')}${usdMicros === null ? '' : `, ${moneyWords(usdMicros)}`}.`,
      isNamed
        ? 'Its name or a label says that it waits for a failover.'
        : 'Another service of its family in the same namespace serves, this one does not (GPU activity).',
    ],
    // Nobody knows yet whether it is needed: the command is told, not given.
    fix:
      namespace === null
        ? []
        : [
            commentLine(
              `if nobody needs it: ${stopCommand({ ...standby, source: 'kubernetes', allocationId: null, kind: standby.workloadKind })}`,
            ),
          ],
    unless: 'The time a failover may take: where a cold start fits into it, fewer replicas or none need to be warm.',
  };
}

export function silentQuestion({ service, name, lastSubject, silentReplicas }: Service): Claim {
  return {
    ...QUESTION,
    about: `${service} silent replicas`,
    ownerSubject: lastSubject,
    what: `${countWords(silentReplicas, 'replica')} of ${name} served nothing on whole days while others did: a standby, or out of its load balancer?`,
    because: [
      'No kernel ran on their GPUs in six hours of a day or more, all of it measured, while siblings computed.',
    ],
    unless: 'They are there for a failover, or hold what the others do not.',
  };
}
