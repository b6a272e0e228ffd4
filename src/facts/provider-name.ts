/** The short name of a provider, and what bills and price lists call it, in lower case. */
const PROVIDER_NAMES: Readonly<Record<string, readonly string[]>> = {
  aws: ['amazon web services', 'amazon', 'amazon ec2'],
  azure: ['microsoft azure', 'microsoft', 'microsoft corporation'],
  cudo: ['cudo compute'],
  do: ['digitalocean', 'digital ocean'],
  gcp: ['google cloud', 'google', 'google cloud platform'],
  ibm: ['ibm cloud'],
  lambda: ['lambda labs', 'lambdalabs', 'lambda cloud'],
  oci: ['oracle', 'oracle cloud', 'oracle cloud infrastructure'],
  ovhcloud: ['ovh'],
  primeintellect: ['prime intellect'],
  runpod: ['run pod'],
  scp: ['samsung cloud platform'],
  vast: ['vast.ai', 'vastai'],
  verda: ['datacrunch'],
};

/** Providers whose catalogs are known, by the word their files are named with. */
const OTHER_PROVIDERS = [
  'coreweave',
  'crusoe',
  'fluidstack',
  'hyperbolic',
  'hyperstack',
  'jarvislabs',
  'mithril',
  'nebius',
  'novita',
  'paperspace',
  'scaleway',
  'seeweb',
  'shadeform',
  'tensordock',
  'together',
  'voltage',
  'vultr',
  'yotta',
];

const BY_NAME = new Map(Object.entries(PROVIDER_NAMES).flatMap(([short, names]) => names.map((name) => [name, short])));

const KNOWN = new Set([...Object.keys(PROVIDER_NAMES), ...OTHER_PROVIDERS]);

/** Bills say `Google Cloud`, price lists `gcp`: the one name both meet under. Unknown names stay, in lower case. */
export function providerKey(name: string): string {
  const lower = name.trim().toLowerCase();
  return BY_NAME.get(lower) ?? lower;
}

export function isKnownProvider(word: string): boolean {
  return KNOWN.has(providerKey(word));
}

/** `providerKey` as SQL over a column. */
export function providerKeySql(column: string): string {
  const cases = [...BY_NAME].map(([name, short]) => `WHEN '${name}' THEN '${short}'`);
  return `CASE lower(${column}) ${cases.join(' ')} ELSE lower(${column}) END`;
}

/** Whether the provider in a column is one that rents machines out, as SQL: of an owner's own name for a cellar nothing is known. */
export function isKnownProviderSql(column: string): string {
  return `COALESCE(${providerKeySql(column)} IN (${[...KNOWN].map((name) => `'${name}'`).join(', ')}), FALSE)`;
}
