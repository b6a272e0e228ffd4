type Purchase = 'on-demand' | 'spot' | 'committed';

/** By label and value in lower case. A node without any of these does not say how it was bought. */
const BOUGHT: Readonly<Record<string, Readonly<Record<string, Purchase>>>> = {
  'karpenter.sh/capacity-type': { spot: 'spot', 'on-demand': 'on-demand', reserved: 'committed' },
  'eks.amazonaws.com/capacitytype': { spot: 'spot', on_demand: 'on-demand', capacity_block: 'committed' },
  'cloud.google.com/gke-spot': { true: 'spot' },
  'cloud.google.com/gke-preemptible': { true: 'spot' },
  'cloud.google.com/gke-provisioning': {
    spot: 'spot',
    preemptible: 'spot',
    standard: 'on-demand',
    reservation: 'committed',
  },
  'kubernetes.azure.com/scalesetpriority': { spot: 'spot', regular: 'on-demand' },
  'oci.oraclecloud.com/oke-is-preemptible': { true: 'spot', false: 'on-demand' },
  'node.kubernetes.io/lifecycle': { spot: 'spot', normal: 'on-demand', 'on-demand': 'on-demand' },
  'node-lifecycle': { spot: 'spot', 'on-demand': 'on-demand' },
};

/** How was this node bought, as autoscalers and clouds label it? A reservation goes before all else. */
export function purchaseOf(labels: Readonly<Record<string, string>>): Purchase | undefined {
  if ((labels['cloud.google.com/reservation-name'] ?? '') !== '') return 'committed';
  const lower = Object.fromEntries(Object.entries(labels).map(([key, value]) => [key.toLowerCase(), value]));
  for (const [label, words] of Object.entries(BOUGHT)) {
    const value = lower[label]?.toLowerCase();
    const purchase = value === undefined || !Object.hasOwn(words, value) ? undefined : words[value];
    if (purchase !== undefined) return purchase;
  }
  return undefined;
}
