/**
 * Makes a FOCUS 1.2 bill of one month: `node bench/bills/make-bill.mjs DIR ROWS`. Writes DIR/bill.parquet and DIR/bill.csv.gz with the
 * same rows: hourly charges of machines, disks and transfer, a twentieth of them paid by commitments, with tags.
 */
import { mkdirSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const [dir = 'bench-data/bills', rowsText = '5000000'] = process.argv.slice(2);
const rows = Number(rowsText);
mkdirSync(dir, { recursive: true });
const instance = await DuckDBInstance.create(':memory:', {
  threads: '2',
  memory_limit: '1500MB',
  temp_directory: `${dir}/spill`,
});
const connection = await instance.connect();
await connection.run("SET TimeZone = 'UTC'");

/** Charges come resource by resource within an hour, as exports are written. */
const bill = `
  SELECT 'us-east-1' || chr(97 + CAST(r % 3 AS INTEGER)) AS "AvailabilityZone", cost AS "BilledCost", '123456789012' AS "BillingAccountId",
    'Example' AS "BillingAccountName", 'Consolidated' AS "BillingAccountType", 'USD' AS "BillingCurrency",
    TIMESTAMP '2026-11-01' AS "BillingPeriodEnd", TIMESTAMP '2026-10-01' AS "BillingPeriodStart",
    CASE WHEN committed THEN 'arn:aws:ec2:capacity/' || r ELSE NULL END AS "CapacityReservationId",
    CASE WHEN committed THEN 'Used' ELSE NULL END AS "CapacityReservationStatus", 'Usage' AS "ChargeCategory",
    CAST(NULL AS VARCHAR) AS "ChargeClass", 'charge for ' || kind || ' number ' || (r % 300) AS "ChargeDescription",
    'Usage-Based' AS "ChargeFrequency", hour + INTERVAL 1 HOUR AS "ChargePeriodEnd", hour AS "ChargePeriodStart",
    CASE WHEN committed THEN 'Spend' ELSE NULL END AS "CommitmentDiscountCategory",
    CASE WHEN committed THEN 'arn:aws:savingsplans::plan/' || (r % 7) ELSE NULL END AS "CommitmentDiscountId",
    CAST(NULL AS VARCHAR) AS "CommitmentDiscountName", CASE WHEN committed THEN 'Used' ELSE NULL END AS "CommitmentDiscountStatus",
    CASE WHEN committed THEN 'Compute Savings Plan' ELSE NULL END AS "CommitmentDiscountType", quantity AS "ConsumedQuantity",
    'Hours' AS "ConsumedUnit", cost AS "ContractedCost", cost AS "ContractedUnitPrice",
    CASE WHEN committed THEN round(cost * 0.6, 10) ELSE cost END AS "EffectiveCost", 'INV-' || (r % 3) AS "InvoiceId",
    'Amazon Web Services, Inc.' AS "InvoiceIssuerName", round(cost * 1.1, 10) AS "ListCost", cost AS "ListUnitPrice",
    CASE WHEN committed THEN 'Committed' ELSE 'Standard' END AS "PricingCategory", 'USD' AS "PricingCurrency", quantity AS "PricingQuantity",
    'Hours' AS "PricingUnit", 'AWS' AS "ProviderName", 'Amazon Web Services, Inc.' AS "PublisherName", 'us-east-1' AS "RegionId",
    'US East (N. Virginia)' AS "RegionName", 'arn:aws:ec2:us-east-1:123456789012:instance/i-' || lpad(CAST(r AS VARCHAR), 17, '0') AS "ResourceId",
    'node-' || r AS "ResourceName", CASE WHEN kind = 'Compute' THEN 'p5.48xlarge' ELSE kind END AS "ResourceType",
    kind AS "ServiceCategory", 'Amazon ' || kind AS "ServiceName", 'SKU' || (r % 300) AS "SkuId", 'SKU' || (r % 300) || '.PRICE' AS "SkuPriceId",
    CAST(r % 40 AS VARCHAR) AS "SubAccountId", 'team ' || (r % 40) AS "SubAccountName",
    MAP {'team': 'team-' || (r % 40), 'environment': CASE WHEN r % 2 = 0 THEN 'prod' ELSE 'dev' END} AS "Tags"
  FROM (
    SELECT i // 744 AS r, TIMESTAMP '2026-10-01' + (i % 744) * INTERVAL 1 HOUR AS hour, (i // 744) % 20 = 0 AS committed,
           CASE (i // 744) % 4 WHEN 0 THEN 'Compute' WHEN 1 THEN 'Storage' WHEN 2 THEN 'Networking' ELSE 'Databases' END AS kind,
           CAST(hash(i) % 9000000000 AS BIGINT) / 10000000000.0 AS cost, CAST(hash(i + 1) % 100000 AS BIGINT) / 1000.0 AS quantity
    FROM range(${rows}) t(i)
  )`;
await connection.run(`COPY (${bill}) TO '${dir}/bill.parquet' (FORMAT parquet, COMPRESSION snappy)`);
await connection.run(
  `COPY (SELECT * REPLACE (strftime("BillingPeriodStart", '%Y-%m-%dT%H:%M:%SZ') AS "BillingPeriodStart",
      strftime("BillingPeriodEnd", '%Y-%m-%dT%H:%M:%SZ') AS "BillingPeriodEnd", strftime("ChargePeriodStart", '%Y-%m-%dT%H:%M:%SZ') AS "ChargePeriodStart",
      strftime("ChargePeriodEnd", '%Y-%m-%dT%H:%M:%SZ') AS "ChargePeriodEnd", CAST(to_json("Tags") AS VARCHAR) AS "Tags")
    FROM read_parquet('${dir}/bill.parquet')) TO '${dir}/bill.csv.gz' (FORMAT csv, HEADER, COMPRESSION gzip)`,
);
connection.closeSync();
