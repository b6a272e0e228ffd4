import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { nameWord } from '../facts/shell-word.ts';
import { sqlCount, sqlDay } from '../facts/sql-row.ts';
import { grouped } from './grouped.ts';
import { commentLine } from './stop-command.ts';
import { countWords, someWords } from './wording.ts';

/** Something on a bill that speaks of GPUs and that no inventory knows. */
const UnknownResource = z.object({
  subject: z.string(),
  provider: z.string().nullable(),
  resourceId: z.string().nullable(),
  resourceName: z.string().nullable(),
  service: z.string().nullable(),
  region: z.string().nullable(),
  firstDay: sqlDay,
  lastDay: sqlDay,
  days: sqlCount,
  tags: z.string(),
});
type UnknownResource = z.infer<typeof UnknownResource>;

const joined = (map: string): string =>
  `COALESCE(array_join(map_keys(${map}), ' ') || ' ' || array_join(map_values(${map}), ' '), '')`;

const RESOURCES = `
  SELECT d.subject, min(d.provider) AS provider, min(r.resource_id) AS "resourceId", min(r.resource_name) AS "resourceName",
         min(r.service) AS service, min(d.region) AS region, min(d.day) AS "firstDay", max(d.day) AS "lastDay",
         count(DISTINCT d.day) AS days, COALESCE(min(${joined('r.tags')}), '') AS tags
  FROM (SELECT day, subject, min(provider) AS provider, min(region) AS region FROM subject_day
        WHERE category = 'unknown' AND device_id IS NULL AND subject LIKE 'resource %' GROUP BY day, subject) d
  LEFT JOIN subject r ON d.day = r.day AND d.subject = r.subject
  GROUP BY d.subject ORDER BY d.subject`;

/**
 * Question: which GPU machines are on a bill that no inventory knows?
 *
 * Nobody sees what they do, so that they are neither idle nor busy: their money is unknown. One finding for each provider; whoever
 * started them may have tags on the bill.
 *
 * Reads: subject_day, subject.
 */
export const unlistedMachines = detector({
  name: 'unlisted-machines',
  title: 'GPU machines on a bill that no inventory knows',
  category: 'unknown',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 0,
  blast: 'Looking changes nothing; whoever stops an unknown machine asks first.',
  effort: 'one question to the account',
  options: z.object({
    daysMin: z.number().int().min(1).default(1), // What was charged for once is on the bill all the same.
  }),
  ask: () => ({ resources: { row: UnknownResource, tables: ['subject_day', 'subject'], sql: RESOURCES } }),
  judge: ({ resources }, { options }) =>
    byProvider(resources.filter(({ days }) => days >= options.daysMin)).map(([about, group]) =>
      resourceClaim(about, group),
    ),
});

function byProvider(resources: readonly UnknownResource[]): [string, UnknownResource[]][] {
  const groups = new Map<string, UnknownResource[]>();
  for (const resource of resources) {
    const key = resource.provider ?? '';
    groups.set(key, [...(groups.get(key) ?? []), resource]);
  }
  return [...groups];
}

const idOf = ({ resourceId, subject }: UnknownResource): string => resourceId ?? subject.replace(/^resource /, '');

/** AWS knows a machine in its own region only. */
function describeCommand([region, group]: readonly [string | null, readonly UnknownResource[]]): string {
  const ids = group.map((each) => nameWord(idOf(each).split('/').at(-1) ?? idOf(each))).join(' ');
  return `aws ec2 describe-instances --instance-ids ${ids}${region === null ? '' : ` --region ${nameWord(region)}`}`;
}

function resourceClaim(about: string, group: readonly UnknownResource[]): Claim {
  const ids = group.map(idOf);
  const [first] = group;
  const names = group.flatMap(({ resourceName, tags }) => [resourceName ?? tags].filter((text) => text !== ''));
  const isAws = first?.provider?.toLowerCase().startsWith('aws') === true;
  return {
    about,
    ownerSubject: group.length === 1 ? (first?.subject ?? null) : null,
    what: `${countWords(group.length, 'GPU machine')} on the bill of ${first?.provider ?? 'a provider'} that no inventory knows`,
    because: [
      `${someWords(ids)}: charged on ${countWords(Math.max(...group.map(({ days }) => days)), 'day')}, last ${group.map(({ lastDay }) => lastDay).reduce((a, b) => (a > b ? a : b))}.`,
      ...(names.length > 0 ? [`The bill says of them: ${someWords(names)}.`] : []),
      'Nothing is known of what they do: no node, no device and no job has these names.',
    ],
    fix: [
      ...(isAws ? [...grouped(group, ({ region }) => region)].map(describeCommand) : []),
      commentLine('if it is known: bursar import nodes, with its resource_id; if nobody knows it: stop it'),
    ],
    unless: 'It is a machine of the fleet under another name: then its node needs the resource_id of the bill.',
    takes: group.map(({ subject, firstDay, lastDay }) => ({ subject, firstDay, lastDay, category: 'unknown' })),
  };
}
