import type { VmUser } from './vm.ts';

/** Tags in which people write whose a machine is; compared without case, spaces and punctuation, the first that is there counts. */
const OWNER_TAGS = [
  'owner',
  'user',
  'username',
  'owneremail',
  'createdby',
  'creator',
  'launchedby',
  'requestedby',
  'requester',
  'contact',
  'email',
];

/**
 * Whose is a machine, by its tags?
 *
 * `aws:createdBy` is written by AWS itself (`IAMUser:AIDA…:mchen`, `AssumedRole:AROA…:session`), but only people's own tags can name
 * whoever the machine is for: they go before it.
 */
export function ownerOf(tags: Readonly<Record<string, string>>): VmUser | undefined {
  const written = new Map<string, { key: string; value: string }>();
  for (const [key, value] of Object.entries(tags)) {
    const plain = key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    if (value.trim() !== '' && !written.has(plain)) written.set(plain, { key, value: value.trim() });
  }
  for (const name of OWNER_TAGS) {
    const found = written.get(name);
    if (found !== undefined) return { name: found.value, from: `tag ${found.key}` };
  }
  const byAws = written.get('awscreatedby');
  const name = byAws?.value.split(':').at(-1);
  return byAws === undefined || name === undefined || name === '' ? undefined : { name, from: `tag ${byAws.key}` };
}
