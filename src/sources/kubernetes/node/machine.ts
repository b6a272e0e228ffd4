import { defined } from '../pod/pod-seen.ts';

interface Machine {
  readonly resourceId?: string;
  /** The short name of `src/facts/provider-name.ts`, under which bills and price lists meet. */
  readonly provider?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
}

const PROVIDERS: Readonly<Record<string, string>> = {
  aws: 'aws',
  gce: 'gcp',
  azure: 'azure',
  oci: 'oci',
  ibm: 'ibm',
  digitalocean: 'do',
};

/** What does the provider call this machine, where is it, and of which type? From `spec.providerID` and labels. */
export function machineOf(
  providerId: string | undefined,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): Machine {
  const [, scheme = '', path = ''] = /^([a-z0-9-]+):\/\/(.*)$/.exec(providerId ?? '') ?? [];
  // Oracle's identifiers come without a scheme.
  const isOracle = providerId?.startsWith('ocid1.') === true;
  const label = (...keys: readonly string[]): string | undefined =>
    keys.map((key) => labels[key]).find((value) => value !== undefined && value !== '');
  return defined({
    resourceId: isOracle ? providerId : resourceOf(scheme, path, annotations),
    provider: isOracle ? PROVIDERS['oci'] : PROVIDERS[scheme],
    region: label('topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'),
    zone: label('topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'),
    instanceType: label('node.kubernetes.io/instance-type', 'beta.kubernetes.io/instance-type'),
  });
}

/**
 * Google bills by the number of an instance, which only an annotation has. Azure bills a machine of a scale set under the name of the
 * set.
 */
function resourceOf(scheme: string, path: string, annotations: Readonly<Record<string, string>>): string | undefined {
  if (scheme === 'gce') return annotations['container.googleapis.com/instance_id'] ?? lastSegment(path);
  if (scheme === 'azure') return path.replace(/\/virtualMachines\/\d+$/i, '') || undefined;
  return lastSegment(path);
}

function lastSegment(path: string): string | undefined {
  const last = path.split('/').findLast((segment) => segment !== '');
  return last;
}
