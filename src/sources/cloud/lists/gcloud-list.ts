import { gcpGpus } from '../instance-gpus.ts';
import { known, lastSegment, listOf, objectOf, tagsOf, textOf, timeOf } from '../json-fields.ts';
import type { JsonObject } from '../json-fields.ts';
import { ownerOf } from '../owner.ts';
import { refuseStrangers } from './list-file.ts';
import { withOwnNames } from './own-names.ts';
import { pasteable } from '../pasteable.ts';
import { SkippedVms } from '../vm.ts';
import type { CloudVm, VmList } from '../vm.ts';

export const GCLOUD = {
  tool: 'gcloud',
  command: 'gcloud compute instances list --format=json',
} as const;

/** Paid for, or about to be. */
const PRESENT = new Set(['RUNNING', 'PROVISIONING', 'STAGING', 'REPAIRING', 'PENDING', 'PENDING_STOP']);
/** The GPUs of such a machine are given back and cost nothing. */
const OVER = new Set(['STOPPING', 'STOPPED', 'TERMINATED', 'SUSPENDING', 'SUSPENDED']);

const STRANGER = 'not an instance of Compute Engine';

/**
 * Question: which GPU machines does a list of Compute Engine show, and since when do they run?
 *
 * A machine that was stopped is told with its last run, because that was paid for.
 */
export function readGcloudList(entries: readonly unknown[]): VmList {
  const skipped = new SkippedVms();
  const vms: CloudVm[] = [];
  for (const entry of entries) {
    const instance = objectOf(entry);
    const name = textOf(instance?.['name']);
    if (instance === undefined || name === undefined || textOf(instance['machineType']) === undefined) {
      skipped.add(STRANGER, shown(entry));
    } else {
      const vm = vmOf(instance, name, skipped);
      if (vm !== undefined) vms.push(vm);
    }
  }
  refuseStrangers(skipped.countOf(STRANGER), entries.length, GCLOUD);
  const named = withOwnNames(vms, ({ tags, zone }) => `${tags['gcp:project'] ?? ''}/${zone ?? ''}`);
  return { vms: named, skipped: skipped.list(), notes: notesOn(named), listed: entries.length };
}

function vmOf(instance: JsonObject, name: string, skipped: SkippedVms): CloudVm | undefined {
  const machineType = lastSegment(textOf(instance['machineType']) ?? '');
  const gpus = gcpGpus(machineType, acceleratorsOf(instance));
  if (gpus === 'none') {
    skipped.add('no GPU', `${name} (${machineType})`);
    return undefined;
  }
  if (gpus === 'unknown') {
    skipped.add('a machine type with GPUs nobody here knows', `${name} (${machineType})`);
    return undefined;
  }
  const from = timeOf(instance['lastStartTimestamp']) ?? timeOf(instance['creationTimestamp']);
  const status = textOf(instance['status'])?.toUpperCase() ?? '';
  if (from === undefined || !(PRESENT.has(status) || OVER.has(status))) {
    skipped.add(from === undefined ? 'no time it was started' : 'a state nobody here knows', `${name} ${status}`);
    return undefined;
  }
  const stopped = timeOf(instance['lastStopTimestamp']) ?? timeOf(instance['lastSuspendedTimestamp']);
  if (OVER.has(status) && (stopped === undefined || stopped <= from)) {
    skipped.add('stopped: costs no GPU money', name);
    return undefined;
  }
  const zone = lastSegment(textOf(instance['zone']) ?? '');
  const labels = tagsOf(instance['labels']);
  const project = /\/projects\/([^/]+)\//.exec(textOf(instance['selfLink']) ?? '')?.[1];
  const region = zone.replace(/-[a-z]$/, '');
  const account = textOf(objectOf(listOf(instance['serviceAccounts'])[0])?.['email']);
  return {
    cloud: 'gcp',
    id: name,
    resourceId: textOf(instance['id']) ?? name,
    instanceType: machineType,
    purchase: purchaseOf(instance),
    gpus,
    name,
    from,
    tags: { ...labels, ...known({ 'gcp:project': project, 'gcp:service-account': account }) },
    ...known({
      zone: zone === '' ? undefined : zone,
      region: region === '' ? undefined : region,
      user: ownerOf(labels),
      until: OVER.has(status) ? stopped : undefined,
      isDown: status === 'REPAIRING' ? true : undefined,
    }),
  };
}

function acceleratorsOf(instance: JsonObject): { type: string; count: number }[] {
  return listOf(instance['guestAccelerators']).flatMap((each) => {
    const fields = objectOf(each);
    const type = textOf(fields?.['acceleratorType']);
    const count = Number(fields?.['acceleratorCount'] ?? 0);
    const isCount = Number.isInteger(count) && count > 0 && count <= 64;
    return type === undefined || !isCount ? [] : [{ type: lastSegment(type), count }];
  });
}

/** FLEX_START is paid as it runs; RESERVATION_BOUND lives in capacity that was bought for a time. */
function purchaseOf(instance: JsonObject): 'on-demand' | 'spot' | 'committed' {
  const scheduling = objectOf(instance['scheduling']);
  const model = textOf(scheduling?.['provisioningModel'])?.toUpperCase();
  if (model === 'SPOT' || scheduling?.['preemptible'] === true) return 'spot';
  return model === 'RESERVATION_BOUND' ? 'committed' : 'on-demand';
}

function notesOn(vms: readonly CloudVm[]): string[] {
  const nobody = vms.filter(({ user, until }) => user === undefined && until === undefined);
  if (nobody.length === 0) return [];
  return [
    `${nobody.length} of ${vms.length} machines say nobody's name: label them, e.g. ` +
      `gcloud compute instances add-labels ${pasteable(nobody[0]?.name ?? '')} --labels=owner=NAME,team=TEAM`,
  ];
}

function shown(entry: unknown): string {
  return (JSON.stringify(entry) ?? '').slice(0, 60);
}
