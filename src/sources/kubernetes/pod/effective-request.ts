import { at, listAt, textAt } from '../api/json-shape.ts';
import { quantity } from './quantity.ts';

/**
 * How much of a resource does a pod take from its node, in `perUnit`ths? Undefined if nobody in it asks for any.
 *
 * As the scheduler counts: containers run side by side, together with sidecars (init containers that restart); init containers run one
 * after the other before, each beside the sidecars that were started until then; the greater of the two is taken, plus
 * overhead. What is said for the whole pod goes before what its containers say.
 */
export function effectiveRequest(spec: unknown, resource: string, perUnit = 1n): bigint | undefined {
  const amount = (holder: unknown): bigint | undefined =>
    quantity(at(holder, 'resources', 'requests', resource) ?? at(holder, 'resources', 'limits', resource), perUnit);
  const ofPod = amount(spec);
  const overhead = quantity(at(spec, 'overhead', resource), perUnit);
  const found = ofPod ?? ofContainers(spec, amount);
  return found === undefined ? undefined : found + (overhead ?? 0n);
}

function ofContainers(spec: unknown, amount: (container: unknown) => bigint | undefined): bigint | undefined {
  let asked = false;
  const counted = (container: unknown): bigint => {
    const found = amount(container);
    asked ||= found !== undefined;
    return found ?? 0n;
  };
  let sidecars = 0n;
  let startUp = 0n;
  for (const container of listAt(spec, 'initContainers')) {
    const own = counted(container);
    if (textAt(container, 'restartPolicy') === 'Always') sidecars += own;
    const beside = sidecars + (textAt(container, 'restartPolicy') === 'Always' ? 0n : own);
    if (beside > startUp) startUp = beside;
  }
  const running = listAt(spec, 'containers').reduce((sum: bigint, container) => sum + counted(container), sidecars);
  if (!asked) return undefined;
  return running > startUp ? running : startUp;
}

/** Every resource that some container of the pod asks for. */
export function askedResources(spec: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  for (const holder of [spec, ...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')]) {
    for (const part of ['requests', 'limits']) {
      const asked = at(holder, 'resources', part);
      if (typeof asked === 'object' && asked !== null) for (const name of Object.keys(asked)) names.add(name);
    }
  }
  return names;
}
