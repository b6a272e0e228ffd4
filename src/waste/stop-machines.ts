import { providerKey } from '../facts/provider-name.ts';
import { nameWord } from '../facts/shell-word.ts';
import { grouped } from './grouped.ts';
import { commentLine } from './stop-command.ts';
import { someWords } from './wording.ts';

/** A machine of a cloud that somebody may stop, as far as facts name it. */
export interface StoppableMachine {
  readonly nodeId: string | null;
  /** What the bill or the inventory calls it: an id, a path, an ARN, a number. */
  readonly resourceId: string | null;
  readonly provider: string | null;
  readonly region: string | null;
  readonly zone: string | null;
  /** A GPU of it, by which it is told where nobody named the machine. */
  readonly deviceId?: string | null;
}

/**
 * Question: what does one paste to stop machines of a cloud?
 *
 * One command for those of one place, and nothing in it that somebody would have to know: where a zone or a full id is no fact, the command asks
 * the cloud for it; where that cannot be, a comment says what to fill in. Names are quoted: they are data, never a second command.
 */
export function stopMachines(machines: readonly StoppableMachine[], { isSpot = false } = {}): string[] {
  const clouds = grouped(machines, ({ provider }) => providerKey(provider ?? ''));
  return [...clouds].flatMap(([cloud, group]) => {
    if (cloud === 'aws') return awsLines(group, isSpot);
    if (cloud === 'gcp') return googleLines(group);
    return cloud === 'azure' ? azureLines(group) : elsewhere(group);
  });
}

function awsLines(machines: readonly StoppableMachine[], isSpot: boolean): string[] {
  const isNamed = (each: StoppableMachine): boolean => idOf(each)?.startsWith('i-') === true;
  // A spot machine cannot be stopped, and comes again when it is asked for.
  const verb = isSpot ? 'terminate-instances' : 'stop-instances';
  const places = grouped(machines.filter(isNamed), ({ region, resourceId }) => region ?? regionOfArn(resourceId));
  const lines = [...places].flatMap(([region, group]) => {
    const ids = group.map((each) => nameWord(idOf(each) ?? '')).join(' ');
    if (region === null)
      return [commentLine('the region is not known: add --region'), `aws ec2 ${verb} --instance-ids ${ids}`];
    return [`aws ec2 ${verb} --instance-ids ${ids} --region ${nameWord(region)}`];
  });
  const others = machines.filter((each) => !isNamed(each));
  return others.length === 0 ? lines : [...lines, ...elsewhere(others)];
}

const idOf = ({ resourceId }: StoppableMachine): string | undefined => resourceId?.split(/[/:]/).at(-1);
const regionOfArn = (id: string | null): string | null => /^arn:aws[\w-]*:ec2:([\w-]+):/.exec(id ?? '')?.[1] ?? null;

/** What Google and Azure let people call a machine; of anything else no question to the cloud is made. */
const PLAIN_NAME = /^[\w.][\w.-]*$/;

/** A name, never the number Google bills by: no command takes that one. */
function googleLines(machines: readonly StoppableMachine[]): string[] {
  const known = machines.map((each) => {
    const [, project = null, zone = null, name] =
      /projects\/([^/]+)\/zones\/([^/]+)\/instances\/([^/]+)$/.exec(each.resourceId ?? '') ?? [];
    const last = idOf(each);
    // Where two machines have one name, their place was written behind it.
    const told = name ?? (last === undefined || /^\d+$/.test(last) ? each.nodeId?.split('@')[0] : last);
    return { each, name: told ?? '', zone: zone ?? each.zone, project };
  });
  const placed = grouped(
    known.filter(({ zone, name }) => zone !== null && name !== ''),
    ({ zone, project }) => `${zone ?? ''} ${project ?? ''}`,
  );
  const lines = [...placed.values()].map((group) => {
    const { zone = null, project = null } = group[0] ?? {};
    const names = group.map(({ name }) => nameWord(name)).join(' ');
    return `gcloud compute instances stop ${names} --zone ${nameWord(zone ?? '')}${project === null ? '' : ` --project ${nameWord(project)}`}`;
  });
  const asked = known.filter(({ zone, name }) => zone === null && PLAIN_NAME.test(name));
  const rest = known.filter(({ zone, name }) => name === '' || (zone === null && !PLAIN_NAME.test(name)));
  return [
    ...lines,
    ...asked.map(
      ({ name }) =>
        `gcloud compute instances stop ${name} --zone "$(gcloud compute instances list --filter=name=${name} --format='value(zone.basename())')"`,
    ),
    ...(rest.length === 0 ? [] : elsewhere(rest.map(({ each }) => each))),
  ];
}

function azureLines(machines: readonly StoppableMachine[]): string[] {
  const isSet = ({ resourceId, nodeId }: StoppableMachine): boolean =>
    /\/virtualmachinescalesets\//i.test(resourceId ?? '') || /vmss[0-9a-z]{6}$/i.test(nodeId ?? '');
  const alone = machines.filter((each) => !isSet(each));
  const full = alone.filter(({ resourceId }) => resourceId?.startsWith('/subscriptions/') === true);
  const named = alone.filter((each) => !full.includes(each));
  const nameOf = (each: StoppableMachine): string => idOf(each) ?? each.nodeId?.split('@')[0] ?? '';
  const rest = named.filter((each) => !PLAIN_NAME.test(nameOf(each)));
  const sets = machines.filter(isSet);
  return [
    ...(full.length === 0
      ? []
      : [`az vm deallocate --ids ${full.map(({ resourceId }) => nameWord(resourceId ?? '')).join(' ')}`]),
    ...named
      .filter((each) => !rest.includes(each))
      .map((each) => `az vm deallocate --ids "$(az vm list --query "[?name=='${nameOf(each)}'].id" --output tsv)"`),
    ...(sets.length === 0
      ? []
      : [
          commentLine(
            `of a scale set, which starts others in their place: lower its count (az aks nodepool scale, az vmss scale): ${wordsOf(sets)}`,
          ),
        ]),
    ...(rest.length === 0 ? [] : elsewhere(rest)),
  ];
}

function elsewhere(machines: readonly StoppableMachine[]): string[] {
  return [
    commentLine(
      `stop ${wordsOf(machines)} where ${machines.length === 1 ? 'it was' : 'they were'} started; what is owned can be lent out instead`,
    ),
  ];
}

const wordsOf = (machines: readonly StoppableMachine[]): string => someWords(machines.map(machineWords));

function machineWords(each: StoppableMachine): string {
  const name = idOf(each) || each.nodeId;
  if (name) return nameWord(name);
  return each.deviceId ? `the machine with ${nameWord(each.deviceId)}` : 'a machine without a name';
}
