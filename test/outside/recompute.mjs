/**
 * The outside script: works out a figure of `bursar ledger explain --json` again, from that JSON alone: rows of the bill →
 * hours → pool → node → device → holder → category.
 *
 * @param {any} json what the command printed
 * @param {string} [category] of `--category`, if it was asked
 */
export function recompute({ entries, charges, pools, chargeHours, deviceHours }, category) {
  const sum = (/** @type {any[]} */ list, /** @type {(each: any) => bigint} */ of) =>
    list.reduce((total, each) => total + of(each), 0n);
  const part = (/** @type {bigint} */ of, /** @type {any} */ { before, weight, total }) =>
    (of * (BigInt(before) + BigInt(weight))) / BigInt(total) - (of * BigInt(before)) / BigInt(total);
  const meets = (/** @type {any} */ row, /** @type {any} */ wanted) =>
    Object.keys(wanted).every((key) => row[key] === wanted[key]);
  const all = (/** @type {any[]} */ rows, /** @type {any} */ wanted) => rows.filter((row) => meets(row, wanted));

  const charged = (/** @type {string} */ hour, /** @type {any} */ wanted) =>
    sum(all(charges, wanted), (c) => sum(all(c.hours, { hour }), (split) => part(BigInt(c.usdMicros), split)));
  const ofNode = (/** @type {any} */ { billId, hourStart: hour, nodeId }) =>
    sum(all(pools, { billId, hour }), ({ pool, nodes }) =>
      sum(all(nodes, { nodeId }), (split) => part(charged(hour, { billId, pool }), split)),
    );
  const ofPart = (/** @type {any} */ { component }, /** @type {any} */ device, /** @type {bigint} */ price) => {
    if (device.hostWeight === null) return price;
    const [gpu, host] = [BigInt(device.gpuWeight), BigInt(device.hostWeight)];
    const ofGpu = part(price, { before: 0n, weight: gpu, total: gpu + host });
    return component === 'gpu' ? ofGpu : price - ofGpu;
  };
  const priceOf = (/** @type {any} */ e) => {
    const { billId, hourStart: hour, nodeId, rootDeviceId, resourceId, disposition, component, reason } = e;
    const [device] = all(deviceHours, { hour, rootDeviceId });
    if (billId !== null && device) return ofPart(e, device, part(ofNode(e), device.split));
    if (device) {
      const price = (BigInt(device.usdNanosPerHour) * BigInt(device.presentSeconds) + 1_800_000n) / 3_600_000n;
      return ofPart(e, device, price);
    }
    if (billId === null) return BigInt(e.split.ofUsdMicros);
    const isBesideNode = disposition === 'beside' && ['storage', 'transfer', 'network'].includes(component);
    if (nodeId !== null && isBesideNode) return charged(hour, { billId, kind: component, nodeId });
    if (nodeId !== null) return ofNode(e);
    const isUnused = reason === 'unused-commitment';
    const kind = isUnused ? 'unused' : disposition === 'beside' ? component : disposition;
    if (kind === 'rounding') return BigInt(all(chargeHours, { billId, hour, kind })[0].usdMicros);
    return charged(hour, { billId, kind, resourceId });
  };
  return sum(entries, (e) => {
    if (e.usdMicros === null) return 0n;
    const entry = part(priceOf(e), e.split);
    const counted = category === undefined ? e.categories : all(e.categories, { category });
    return sum(counted, ({ split, fate }) => (fate === null ? part(entry, split) : part(part(entry, split), fate)));
  });
}
