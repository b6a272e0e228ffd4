import type { _InstanceType, EC2Client, Instance, InstanceTypeInfo } from '@aws-sdk/client-ec2';
import { AWS_TYPE_NAMES } from '../instance-gpus.ts';
import { allPages, asked } from './aws-ask.ts';
import type { AwsSettings } from './aws-session.ts';

const TYPES_PER_REQUEST = 100;
/**
 * Types that carry accelerators: by family, so that tomorrow's are found too, and by name, because not everything that speaks
 * like EC2 reads a pattern. EC2 takes 200 values at most.
 */
const ACCELERATED = ['p*', 'g*', 'trn*', 'inf*', 'dl*', 'u-p*', ...AWS_TYPE_NAMES];

export interface Ec2Questions {
  regions(homeRegion: string, signal: AbortSignal): Promise<string[]>;
  /** With the account each belongs to. */
  instances(region: string, signal: AbortSignal): Promise<{ instance: Instance; account?: string }[]>;
  instanceTypes(region: string, types: readonly string[], signal: AbortSignal): Promise<InstanceTypeInfo[]>;
  close(): void;
}

/** What EC2 is asked. The SDK is loaded only now. */
export async function ec2Questions(settings: AwsSettings): Promise<Ec2Questions> {
  const { EC2Client, DescribeInstancesCommand, DescribeInstanceTypesCommand, DescribeRegionsCommand } =
    await import('@aws-sdk/client-ec2');
  const clients = new Map<string, EC2Client>();
  const clientIn = (region: string): EC2Client => {
    const client = clients.get(region) ?? new EC2Client(settings(region));
    clients.set(region, client);
    return client;
  };
  return {
    regions: (home, signal) =>
      asked('ec2:DescribeRegions', home, signal, async (abortSignal) => {
        const answer = await clientIn(home).send(new DescribeRegionsCommand({}), { abortSignal });
        return (answer.Regions ?? []).flatMap(({ RegionName: name }) => (name === undefined ? [] : [name]));
      }),
    instances: async (region, signal) => {
      const question = { Filters: [{ Name: 'instance-type', Values: ACCELERATED }], MaxResults: 1000 };
      const pages = await allPages('ec2:DescribeInstances', region, signal, (abortSignal, token) =>
        clientIn(region).send(new DescribeInstancesCommand({ ...question, ...token }), { abortSignal }),
      );
      return pages
        .flatMap(({ Reservations: reservations = [] }) => reservations)
        .flatMap(({ Instances: instances = [], OwnerId: account }) =>
          instances.map((instance) => ({ instance, ...(account !== undefined && { account }) })),
        );
    },
    instanceTypes: async (region, types, signal) => {
      const found: InstanceTypeInfo[] = [];
      for (let start = 0; start < types.length; start += TYPES_PER_REQUEST) {
        const names = types.slice(start, start + TYPES_PER_REQUEST) as _InstanceType[];
        const answer = await asked('ec2:DescribeInstanceTypes', region, signal, (abortSignal) =>
          clientIn(region).send(new DescribeInstanceTypesCommand({ InstanceTypes: names }), { abortSignal }),
        );
        found.push(...(answer.InstanceTypes ?? []));
      }
      return found;
    },
    close: () => {
      for (const client of clients.values()) client.destroy();
    },
  };
}
