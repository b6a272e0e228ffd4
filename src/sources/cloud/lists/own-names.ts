import type { CloudVm } from '../vm.ts';

/**
 * Gives each machine a name of its own: the one people gave it, which is its host name too, so that what an exporter on it says
 * is met.
 *
 * Names are unique only inside a zone or a resource group. Of several machines of one name the oldest keeps it, and newer ones
 * carry where they stand: a machine that comes later does not rename one that is there.
 */
export function withOwnNames(vms: readonly CloudVm[], placeOf: (vm: CloudVm) => string): CloudVm[] {
  const taken = new Set<string>();
  const names = new Map<CloudVm, string>();
  const oldestFirst = vms.toSorted(
    (a, b) => a.from.getTime() - b.from.getTime() || (a.resourceId < b.resourceId ? -1 : 1),
  );
  for (const vm of oldestFirst) {
    const choices = [vm.id, `${vm.id}@${placeOf(vm)}`, `${vm.id}@${placeOf(vm)}/${vm.resourceId}`];
    const own = choices.find((name) => !taken.has(name));
    // The same machine again: one of its rows wins by its key.
    names.set(vm, own ?? vm.id);
    taken.add(own ?? vm.id);
  }
  return vms.map((vm) => ({ ...vm, id: names.get(vm) ?? vm.id }));
}
