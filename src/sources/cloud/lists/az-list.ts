import { azureGpus } from '../instance-gpus.ts';
import { known, lastSegment, listOf, objectOf, tagsOf, textOf, timeOf } from '../json-fields.ts';
import type { JsonObject } from '../json-fields.ts';
import { ownerOf } from '../owner.ts';
import { refuseStrangers } from './list-file.ts';
import { withOwnNames } from './own-names.ts';
import { pasteable } from '../pasteable.ts';
import { SkippedVms } from '../vm.ts';
import type { CloudVm, VmList } from '../vm.ts';

export const AZ = { tool: 'az', command: 'az vm list -d --output json' } as const;

const STRANGER = 'not a virtual machine of Azure';
/** What the portal fills in, or an image brings: no person. */
const NOBODYS_NAMES = new Set([
  'azureuser',
  'azureadmin',
  'admin',
  'adminuser',
  'administrator',
  'ubuntu',
  'root',
  'user',
]);

/**
 * Question: which GPU machines does a list of Azure show?
 *
 * Azure says when a machine was created, not when it was last started: a running one is taken to have run since. Stopped is
 * not deallocated: a stopped machine keeps its GPUs and is billed. Without `-d` the list does not say what runs; then every
 * machine is taken to run, and the notes say so.
 */
export function readAzList(entries: readonly unknown[]): VmList {
  const skipped = new SkippedVms();
  const vms: CloudVm[] = [];
  const powerUnknown: string[] = [];
  for (const entry of entries) {
    const fields = objectOf(entry);
    // REST replies keep under `properties` what the command line lays flat.
    const vm = fields === undefined ? undefined : { ...objectOf(fields['properties']), ...fields };
    const name = textOf(vm?.['name']);
    const size = textOf(objectOf(vm?.['hardwareProfile'])?.['vmSize']);
    if (vm === undefined || name === undefined || size === undefined) {
      skipped.add(STRANGER, (JSON.stringify(entry) ?? '').slice(0, 60));
      continue;
    }
    const read = vmOf(vm, name, size, skipped);
    if (read === undefined) continue;
    vms.push(read);
    if (powerOf(vm) === undefined) powerUnknown.push(name);
  }
  refuseStrangers(skipped.countOf(STRANGER), entries.length, AZ);
  const named = withOwnNames(vms, ({ tags }) => tags['azure:resource-group'] ?? '');
  return { vms: named, skipped: skipped.list(), notes: notesOn(named, powerUnknown), listed: entries.length };
}

function vmOf(vm: JsonObject, name: string, size: string, skipped: SkippedVms): CloudVm | undefined {
  const gpus = azureGpus(size);
  if (gpus === 'none' || gpus === 'unknown') {
    const reason = gpus === 'none' ? 'no GPU' : 'a size with GPUs nobody here knows';
    skipped.add(reason, `${name} (${size})`);
    return undefined;
  }
  const power = powerOf(vm);
  if (power !== undefined && /^(?:deallocat|hibernat)/.test(power)) {
    skipped.add('deallocated: costs no GPU money', name);
    return undefined;
  }
  const from = timeOf(vm['timeCreated']);
  if (from === undefined) {
    skipped.add('no time it was created', name);
    return undefined;
  }
  const id = textOf(vm['id']) ?? name;
  const location = textOf(vm['location'])?.toLowerCase().replaceAll(' ', '');
  const zone = textOf(listOf(vm['zones'])[0]);
  const tags = tagsOf(vm['tags']);
  const part = (kind: string): string | undefined => new RegExp(`/${kind}/([^/]+)`, 'i').exec(id)?.[1]?.toLowerCase();
  const priority = textOf(vm['priority'])?.toLowerCase();
  const admin = textOf(objectOf(vm['osProfile'])?.['adminUsername']);
  const isPerson = admin !== undefined && !NOBODYS_NAMES.has(admin.toLowerCase());
  return {
    cloud: 'azure',
    id: name.toLowerCase(),
    resourceId: id.toLowerCase(),
    instanceType: size,
    purchase: priority === 'spot' || priority === 'low' ? 'spot' : reservedOf(vm) ? 'committed' : 'on-demand',
    gpus,
    name,
    from,
    tags: {
      ...tags,
      ...known({
        'azure:subscription': part('subscriptions'),
        'azure:resource-group': part('resourceGroups') ?? textOf(vm['resourceGroup'])?.toLowerCase(),
        'azure:power-state': power,
      }),
    },
    ...known({
      region: location,
      zone: zone === undefined || location === undefined ? undefined : `${location}-${zone}`,
      user: ownerOf(tags) ?? (isPerson ? { name: admin, from: 'admin user name (assumed)' } : undefined),
      isDown: power === 'stopped' || power === 'stopping' ? true : undefined,
    }),
  };
}

/** `VM running` → running; from `instanceView` where the list has that instead; undefined where it says nothing. */
function powerOf(vm: JsonObject): string | undefined {
  const plain = textOf(vm['powerState'])?.toLowerCase();
  if (plain !== undefined) return lastSegment(plain).replace(/^vm /, '');
  const codes = listOf(objectOf(vm['instanceView'])?.['statuses']).map((each) => textOf(objectOf(each)?.['code']));
  const code = codes.find((each) => each?.toLowerCase().startsWith('powerstate/') === true);
  return code === undefined ? undefined : lastSegment(code).toLowerCase();
}

function reservedOf(vm: JsonObject): boolean {
  return textOf(objectOf(objectOf(vm['capacityReservation'])?.['capacityReservationGroup'])?.['id']) !== undefined;
}

function notesOn(vms: readonly CloudVm[], powerUnknown: readonly string[]): string[] {
  const stopped = vms.filter(({ isDown }) => isDown === true);
  const running = vms.filter(({ isDown }) => isDown !== true);
  return [
    ...(powerUnknown.length === 0
      ? []
      : [
          `${powerUnknown.length} machines without a power state are taken to run, e.g. ${powerUnknown[0] ?? ''}: ` +
            `list them with -d: ${AZ.command}`,
        ]),
    ...(running.length === 0
      ? []
      : ['Azure does not say when a machine was last started: taken to have run since it was created']),
    ...stopped
      .slice(0, 3)
      .map(
        ({ name, tags }) =>
          `${name ?? ''} is stopped but not deallocated, so it is still billed: ` +
          `az vm deallocate -g ${pasteable(tags['azure:resource-group'] ?? 'GROUP')} -n ${pasteable(name ?? '')}`,
      ),
  ];
}
