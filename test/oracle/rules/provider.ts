/** What bills and inventories call the providers of the little organisations, in lower case. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  'amazon web services': 'aws',
  'google cloud': 'gcp',
};

/** The one name under which a bill's provider and a node's meet. */
export function shortName(provider: string): string {
  const lower = provider.toLowerCase();
  return SHORT_NAMES[lower] ?? lower;
}

/** Those that rent machines out, of all whose short names are known. */
const CLOUDS: ReadonlySet<string> = new Set(['aws', 'azure', 'gcp', 'oci', 'coreweave', 'lambda']);

export function isCloud(provider: string): boolean {
  return CLOUDS.has(shortName(provider));
}
