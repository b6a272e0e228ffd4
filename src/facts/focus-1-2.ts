/** What a column of FOCUS is, as its specification says: https://focus.finops.org, version 1.2. */
export interface FocusColumn {
  readonly name: string;
  readonly type: 'string' | 'decimal' | 'datetime' | 'json';
  readonly level: 'Mandatory' | 'Conditional' | 'Recommended';
  readonly isNullable: boolean;
  /** The only values it may have. */
  readonly allowed?: readonly string[];
}

type Level = FocusColumn['level'];

const text = (name: string, level: Level, isNullable: boolean, allowed?: readonly string[]): FocusColumn => ({
  name,
  type: 'string',
  level,
  isNullable,
  ...(allowed !== undefined && { allowed }),
});
const decimal = (name: string, level: Level, isNullable: boolean): FocusColumn => ({
  name,
  type: 'decimal',
  level,
  isNullable,
});
const time = (name: string): FocusColumn => ({ name, type: 'datetime', level: 'Mandatory', isNullable: false });
const json = (name: string): FocusColumn => ({ name, type: 'json', level: 'Conditional', isNullable: true });

/** Service subcategories by the one category each belongs to; both lists are closed. */
export const FOCUS_SERVICES: Readonly<Record<string, readonly string[]>> = {
  'AI and Machine Learning': [
    'AI Platforms',
    'Bots',
    'Generative AI',
    'Machine Learning',
    'Natural Language Processing',
    'Other (AI and Machine Learning)',
  ],
  Analytics: [
    'Analytics Platforms',
    'Business Intelligence',
    'Data Processing',
    'Search',
    'Streaming Analytics',
    'Other (Analytics)',
  ],
  'Business Applications': ['Productivity and Collaboration', 'Other (Business Applications)'],
  Compute: [
    'Containers',
    'End User Computing',
    'Quantum Compute',
    'Serverless Compute',
    'Virtual Machines',
    'Other (Compute)',
  ],
  Databases: [
    'Caching',
    'Data Warehouses',
    'Ledger Databases',
    'NoSQL Databases',
    'Relational Databases',
    'Time Series Databases',
    'Other (Databases)',
  ],
  'Developer Tools': [
    'Developer Platforms',
    'Continuous Integration and Deployment',
    'Development Environments',
    'Source Code Management',
    'Quality Assurance',
    'Other (Developer Tools)',
  ],
  Identity: ['Identity and Access Management', 'Other (Identity)'],
  Integration: ['API Management', 'Messaging', 'Workflow Orchestration', 'Other (Integration)'],
  'Internet of Things': ['IoT Analytics', 'IoT Platforms', 'Other (Internet of Things)'],
  'Management and Governance': [
    'Architecture',
    'Compliance',
    'Cost Management',
    'Data Governance',
    'Disaster Recovery',
    'Endpoint Management',
    'Observability',
    'Support',
    'Other (Management and Governance)',
  ],
  Media: ['Content Creation', 'Gaming', 'Media Streaming', 'Mixed Reality', 'Other (Media)'],
  Migration: ['Data Migration', 'Resource Migration', 'Other (Migration)'],
  Mobile: ['Other (Mobile)'],
  Multicloud: ['Multicloud Integration', 'Other (Multicloud)'],
  Networking: [
    'Application Networking',
    'Content Delivery',
    'Network Connectivity',
    'Network Infrastructure',
    'Network Routing',
    'Network Security',
    'Other (Networking)',
  ],
  Security: ['Secret Management', 'Security Posture Management', 'Threat Detection and Response', 'Other (Security)'],
  Storage: [
    'Backup Storage',
    'Block Storage',
    'File Storage',
    'Object Storage',
    'Storage Platforms',
    'Other (Storage)',
  ],
  Web: ['Application Platforms', 'Other (Web)'],
  Other: ['Other (Other)'],
};

const STATUS = ['Used', 'Unused'];

/** Every column of FOCUS 1.2, in the order of the specification. */
export const FOCUS_COLUMNS: readonly FocusColumn[] = [
  text('AvailabilityZone', 'Recommended', true),
  decimal('BilledCost', 'Mandatory', false),
  text('BillingAccountId', 'Mandatory', false),
  text('BillingAccountName', 'Mandatory', true),
  text('BillingAccountType', 'Conditional', true),
  text('BillingCurrency', 'Mandatory', false),
  time('BillingPeriodEnd'),
  time('BillingPeriodStart'),
  text('CapacityReservationId', 'Conditional', true),
  text('CapacityReservationStatus', 'Conditional', true, STATUS),
  text('ChargeCategory', 'Mandatory', false, ['Usage', 'Purchase', 'Tax', 'Credit', 'Adjustment']),
  text('ChargeClass', 'Mandatory', true, ['Correction']),
  text('ChargeDescription', 'Mandatory', true),
  text('ChargeFrequency', 'Recommended', false, ['One-Time', 'Recurring', 'Usage-Based']),
  time('ChargePeriodEnd'),
  time('ChargePeriodStart'),
  text('CommitmentDiscountCategory', 'Conditional', true, ['Spend', 'Usage']),
  text('CommitmentDiscountId', 'Conditional', true),
  text('CommitmentDiscountName', 'Conditional', true),
  decimal('CommitmentDiscountQuantity', 'Conditional', true),
  text('CommitmentDiscountStatus', 'Conditional', true, STATUS),
  text('CommitmentDiscountType', 'Conditional', true),
  text('CommitmentDiscountUnit', 'Conditional', true),
  decimal('ConsumedQuantity', 'Conditional', true),
  text('ConsumedUnit', 'Conditional', true),
  decimal('ContractedCost', 'Mandatory', false),
  decimal('ContractedUnitPrice', 'Conditional', true),
  decimal('EffectiveCost', 'Mandatory', false),
  text('InvoiceId', 'Recommended', true),
  text('InvoiceIssuerName', 'Mandatory', false),
  decimal('ListCost', 'Mandatory', false),
  decimal('ListUnitPrice', 'Conditional', true),
  text('PricingCategory', 'Conditional', true, ['Standard', 'Dynamic', 'Committed', 'Other']),
  text('PricingCurrency', 'Conditional', false),
  decimal('PricingCurrencyContractedUnitPrice', 'Conditional', true),
  decimal('PricingCurrencyEffectiveCost', 'Conditional', false),
  decimal('PricingCurrencyListUnitPrice', 'Conditional', true),
  decimal('PricingQuantity', 'Mandatory', true),
  text('PricingUnit', 'Mandatory', true),
  text('ProviderName', 'Mandatory', false),
  text('PublisherName', 'Mandatory', false),
  text('RegionId', 'Conditional', true),
  text('RegionName', 'Conditional', true),
  text('ResourceId', 'Conditional', true),
  text('ResourceName', 'Conditional', true),
  text('ResourceType', 'Conditional', true),
  text('ServiceCategory', 'Mandatory', false, Object.keys(FOCUS_SERVICES)),
  text('ServiceName', 'Mandatory', false),
  text('ServiceSubcategory', 'Recommended', false, Object.values(FOCUS_SERVICES).flat()),
  text('SkuId', 'Conditional', true),
  text('SkuMeter', 'Conditional', true),
  json('SkuPriceDetails'),
  text('SkuPriceId', 'Conditional', true),
  text('SubAccountId', 'Conditional', true),
  text('SubAccountName', 'Conditional', true),
  text('SubAccountType', 'Conditional', true),
  json('Tags'),
];
