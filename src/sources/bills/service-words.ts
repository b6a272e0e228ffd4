import { literal } from '../values/sql-text.ts';
import type { BillColumns } from './bill-view.ts';

/** Words of a product family or of a usage type, and the FOCUS service category they mean; the first that matches counts. */
const AWS_WORDS: readonly (readonly [pattern: string, category: string])[] = [
  [
    'data transfer|datatransfer|-bytes|nat ?gateway|load ?balancer|vpc|ip address|publicipv4|transit ?gateway|cloudfront|route ?53',
    'Networking',
  ],
  ['^storage|storage snapshot|ebs:|timedstorage|-storage|bytehrs|provisioned iops|fsx|efs', 'Storage'],
  [
    'compute instance|dedicated host|boxusage|spotusage|dedicatedusage|hostusage|reservation|unusedbox|heavyusage|capacityblock',
    'Compute',
  ],
];

const AWS_CODES: Readonly<Record<string, readonly string[]>> = {
  Compute: [
    'AmazonEC2',
    'AWSLambda',
    'AmazonECS',
    'AmazonEKS',
    'AWSBatch',
    'AWSParallelComputingService',
    'ComputeSavingsPlans',
  ],
  Storage: ['AmazonS3', 'AmazonEFS', 'AmazonFSx', 'AmazonGlacier', 'AWSBackup'],
  Networking: ['AmazonVPC', 'AWSDataTransfer', 'AmazonCloudFront', 'AWSELB', 'AmazonRoute53', 'AWSDirectConnect'],
  'AI and Machine Learning': ['AmazonSageMaker', 'AmazonBedrock'],
  Databases: ['AmazonRDS', 'AmazonDynamoDB', 'AmazonElastiCache', 'AmazonRedshift'],
};

/** The category of a row of an AWS bill: by its product family, then by its usage type, then by its product. */
export function awsCategory(columns: BillColumns): string {
  const words = `lower(COALESCE(${columns.firstOf('product/productFamily')}, '') || ' ' || COALESCE(${columns.text('lineItem/UsageType')}, ''))`;
  const byWord = AWS_WORDS.map(
    ([pattern, category]) => `WHEN regexp_matches(${words}, ${literal(pattern)}) THEN ${literal(category)}`,
  );
  const code = columns.text('lineItem/ProductCode');
  const byCode = Object.entries(AWS_CODES).map(
    ([category, codes]) => `WHEN ${code} IN (${codes.map(literal).join(', ')}) THEN ${literal(category)}`,
  );
  return `CASE ${[...byWord, ...byCode].join(' ')} ELSE 'Other' END`;
}

/** `p5.48xlarge`, where the bill says so or its usage type ends with it. */
export function awsInstance(columns: BillColumns): string {
  const fromUsage = `nullif(regexp_extract(${columns.text('lineItem/UsageType')}, ':((?:ml\\.)?[a-z][a-z0-9-]*\\.[a-z0-9-]+)$', 1), '')`;
  return `COALESCE(${columns.text('product/instanceType')}, ${fromUsage}, ${columns.text('product/productFamily')})`;
}

const AZURE_METERS: readonly (readonly [pattern: string, category: string])[] = [
  [
    'bandwidth|virtual network|vpn gateway|load balancer|expressroute|nat gateway|ip addresses|content delivery|application gateway|firewall|dns',
    'Networking',
  ],
  ['storage|backup|disk', 'Storage'],
  ['virtual machines|kubernetes|container instances|batch|functions|dedicated host|reservation', 'Compute'],
  ['machine learning|cognitive|openai|ai ', 'AI and Machine Learning'],
  ['sql|cosmos|database|redis', 'Databases'],
];

/** The category of a row of an Azure export: by its meter, else by the service family. */
export function azureCategory(columns: BillColumns): string {
  const meter = `lower(${columns.firstOf('MeterCategory', 'ConsumedService')})`;
  const byMeter = AZURE_METERS.map(
    ([pattern, category]) => `WHEN regexp_matches(${meter}, ${literal(pattern)}) THEN ${literal(category)}`,
  );
  return `CASE ${byMeter.join(' ')} ELSE COALESCE(${columns.text('ServiceFamily')}, 'Other') END`;
}
