/**
 * What bare DuckDB costs to read the same columns of a bill into Parquet: `node bench/bills/bare.mjs FILE OUT`. The last line of
 * stderr says it. A CSV is read with the engine's own guesses of types, which is what one would write by hand.
 */
import { DuckDBInstance } from '@duckdb/node-api';

const [file = '', out = ''] = process.argv.slice(2);
/** The columns of FOCUS that the charge table keeps. */
const COLUMNS =
  `ProviderName BillingAccountId BillingPeriodStart BillingPeriodEnd ChargePeriodStart ChargePeriodEnd ChargeCategory ChargeClass
  ChargeFrequency ChargeDescription PricingCategory BillingCurrency EffectiveCost BilledCost ListCost ContractedCost ServiceCategory
  ServiceName SkuId SkuPriceId RegionId AvailabilityZone ResourceId ResourceName ResourceType SubAccountId CommitmentDiscountId
  CommitmentDiscountStatus CapacityReservationId CapacityReservationStatus ConsumedQuantity ConsumedUnit PricingQuantity PricingUnit
  InvoiceId Tags`
    .split(/\s+/)
    .map((name) => `"${name}"`)
    .join(', ');
const instance = await DuckDBInstance.create(':memory:', {
  threads: '2',
  memory_limit: '1400MB',
  temp_directory: `${out}.spill`,
});
const connection = await instance.connect();
const reader = file.endsWith('.parquet') ? 'read_parquet' : 'read_csv';
await connection.run(
  `COPY (SELECT ${COLUMNS} FROM ${reader}('${file}')) TO '${out}' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 122880)`,
);
connection.closeSync();
const { user, system } = process.cpuUsage();
const peakRssMib = Math.round(process.resourceUsage().maxRSS / 1024);
process.stderr.write(`${JSON.stringify({ cpuSeconds: Number(((user + system) / 1e6).toFixed(3)), peakRssMib })}\n`);
