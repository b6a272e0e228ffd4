import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDimensions } from '../src/app/filter.ts';
import { spend } from '../src/app/spend.ts';
import { pendingAdjustments } from '../src/app/statement/month-adjustments.ts';
import { inForce } from '../src/app/statement/settle-statements.ts';
import { ledgerWindow } from '../src/app/window.ts';
import { withReader } from '../src/app/workspace.ts';
import { dispatch } from '../src/cli/dispatch.ts';
import type { CommandEntry } from '../src/cli/dispatch.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { csv, fleetFolder } from './fleet-folder.ts';

const COMMANDS: readonly CommandEntry[] = [
  { name: 'statement', summary: '', load: () => import('../src/cli/commands/statement.ts') },
];

/** One machine with two GPUs for two months: nlp has one of them, the other is empty but for a day of asr. */
const day = (month: string, date: number): string => `2026-${month}-${String(date).padStart(2, '0')}T00:00:00Z`;
const charge = (month: string, next: string, usd: string, more = 'Usage|Compute|EC2|i-m1'): string =>
  `AWS|1|${day(month, 1)}|${day(next, 1)}|${day(month, 3)}|${day(month, 4)}|${usd}|${usd}|USD|${more}`;
const HEADER =
  'ProviderName|BillingAccountId|BillingPeriodStart|BillingPeriodEnd|ChargePeriodStart|ChargePeriodEnd|EffectiveCost|BilledCost|BillingCurrency|ChargeCategory|ServiceCategory|ServiceName|ResourceId';
const january = (usd: string): string =>
  csv(`${HEADER}\n${charge('01', '02', usd)}\n${charge('01', '02', '4.80', 'Tax|||')}`);
const february = csv(`${HEADER}\n${charge('02', '03', '96.00')}`);
const job = (id: string, month: string, account: string, name: string): string =>
  `slurm|${id}|m1|m1-${id.at(-1)}|${day(month, 3)}|${day(month, 4)}|1|a|${account}|mei|${name}|{"class": "training"}`;
const jobs = (account: string): string =>
  csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|user_name|workload_name|labels
    ${job('10', '01', account, '<b>=train')}
    ${job('20', '02', 'nlp', 'train')}
    ${job('21', '02', 'asr', 'eval')}`);

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder({
    nodes: csv(`
      node_id|present_from|resource_id|provider|billing_account|cluster|gpu_count|model
      m1|${day('01', 3)}|i-m1|AWS|1|a|2|H100`),
    devices: csv(`
      device_id|node_id|model
      m1-0|m1|H100
      m1-1|m1|H100`),
    allocations: jobs('nlp'),
    samples: csv(`
      device_id|ts|step_s|engine_permille
      m1-0|${day('01', 3)}|43200|1000
      m1-0|2026-01-03T12:00:00Z|43200|0`),
    charges: january('96.00'),
    'charges 2': february,
  });
});
afterAll(() => fleet.remove());

async function bursar(...args: string[]): Promise<{ exitCode: number; data: string; talk: string }> {
  let [data, talk] = ['', ''];
  const exitCode = await dispatch([...args, '--data', fleet.dataDir], '0', COMMANDS, {
    stdout: { write: (text) => (data += text) },
    stderr: { write: (text) => (talk += text) },
  });
  return { exitCode, data, talk };
}

/** The law on a real folder: statements in force and what is pending are what the ledger says of the stated months. */
async function checkLaw(months: string): Promise<void> {
  await withReader(fleet.dataDir, async (space) => {
    const by = parseDimensions('team');
    const window = ledgerWindow(months, new Date('2026-06-01T00:00:00Z'), space.scope);
    const { rows } = await spend(space, { by, window, filters: [] });
    const ledger = new Map(rows.map(({ values, costUsdMicros }) => [values[0] ?? null, costUsdMicros ?? 0n]));
    const stated = new Map<string | null, bigint>();
    const add = (team: string | null, micros: bigint): void => void stated.set(team, (stated.get(team) ?? 0n) + micros);
    for (const { statements } of inForce(space.statements.closings())) {
      for (const { team, usdMicros, adjustments } of statements) {
        add(team, usdMicros);
        for (const each of adjustments) add(team, each.usdMicros);
      }
    }
    for (const { team, usdMicros } of await pendingAdjustments(space)) add(team, usdMicros);
    for (const team of new Set([...ledger.keys(), ...stated.keys()])) {
      expect([team, stated.get(team) ?? 0n]).toEqual([team, ledger.get(team) ?? 0n]);
    }
  });
}

describe('a statement', () => {
  it('says what was spent, on what, how much computed, and what to do', async () => {
    const { data, exitCode } = await bursar('statement', '--team', 'nlp', '--month', '2026-01');
    expect(exitCode).toBe(0);
    expect(data.split('\n')).toEqual([
      'nlp paid $48.00 in January 2026 (29 of 31 days with facts); 50 % of what is known computed (all teams 25 %).',
      expect.stringMatching(
        /^Showback statement: not closed · 2026-01-01 to 2026-01-31 \(UTC\) · effective cost, billed · bill AWS\|1\|2026-01 covers until 2026-01-04 00:00 UTC$/,
      ),
      '',
      '                  USD         GPU-hours  computed',
      'By class',
      '  training     $48.00  100 %       24.0      50 %',
      'Where it went',
      '  idle         $24.00   50 %       12.0',
      '  computing    $24.00   50 %       12.0',
      'Total          $48.00              24.0      50 %',
      'By component: GPU $48.00',
      'Dearest work: <b>=train $48.00',
      'Time to a GPU: not known: nothing tells when jobs were submitted',
      '',
      'What to do',
      `  $24.00 idle: which jobs  → bursar spend --by job --filter 'team=nlp,category=idle' --window 2026-01 --data ${fleet.dataDir}`,
      `  who waited meanwhile     → bursar beside --team nlp --window 2026-01 --data ${fleet.dataDir}`,
      '',
    ]);
  });

  it('of a month that follows says what changed and why', async () => {
    const { data } = await bursar('statement', '--team', 'nlp', '--month', '2026-02');
    expect(data).toContain('nlp paid $48.00 in February 2026 (3 of 28 days with facts), as much as in January 2026');
    const asr = await bursar('statement', '--team', 'asr', '--month', '2026-02');
    expect(asr.data).toContain('asr paid $48.00 in February 2026 (3 of 28 days with facts), nothing in January 2026');
    expect(asr.data).toMatch(/What changed since January 2026 .*: \+\$48\.00/);
    expect(asr.data.split('\n').length).toBeLessThanOrEqual(45);
  });

  it('of all teams adds up to the month, with what nobody owns', async () => {
    const { data } = await bursar('statement', '--month', '2026-01', '--json');
    const overview = JSON.parse(data) as {
      rows: { team: string | null; usdMicros: string; amountCents: string }[];
      amountCents: string;
    };
    expect(overview.rows.map(({ team, usdMicros }) => [team, usdMicros])).toEqual([
      ['nlp', '48000000'],
      [null, '52800000'],
    ]);
    expect(overview.amountCents).toBe('10080');
  });

  it.each([
    [['--team', 'nlpp', '--month', '2026-01'], 'unknown-team', 'Did you mean nlp?'],
    [['--month', 'October'], 'bad-month', 'A month is written 2026-10.'],
    [['--month', '2026-01', '--html', 'x.html'], 'no-team', 'Add --team NAME, or --unattributed.'],
  ])('asked wrongly says what to do: %j', async (args, code, hint) => {
    const { data, exitCode } = await bursar('statement', ...args, '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(data)).toMatchObject({ error: { code, hint } });
  });

  it('as an invoice says cost centre, account and what is due', async () => {
    const config = join(fleet.dataDir, '..', 'bursar.yaml');
    await writeFile(
      config,
      'teams: {nlp: {cost_centre: "0471", account_code: "<i>62</i>"}}\nstatements: {mode: chargeback, issuer: ML platform}\n',
    );
    const file = join(fleet.dataDir, '..', 'invoice.html');
    const asked = ['statement', '--team', 'nlp', '--month', '2026-01', '--config', config];
    const { data } = await bursar(...asked, '--html', file);
    expect(data).toContain('Invoice: not closed');
    expect(data).toContain('from ML platform · cost centre 0471 · account <i>62</i>');
    const html = await readFile(file, 'utf8');
    expect(html).toContain('<dt>Amount due</dt><dd>$48.00</dd>');
    expect(html).toContain('&#60;i&#62;62&#60;/i&#62;');
    const said = await bursar(...asked, '--kind', 'showback');
    expect(said.data).toContain('Showback statement: not closed');
  });

  it('as CSV has one row for each line, and nothing a spreadsheet would run', async () => {
    await fleet.import({ allocations: jobs('=nlp') });
    try {
      const { data } = await bursar('statement', '--team', '=nlp', '--month', '2026-01', '--csv');
      expect(data.trim().split('\n')).toEqual([
        'statement,month,team,costCentre,accountCode,item,about,class,project,component,category,basis,usdMicros,gpuSeconds,reason',
        ",2026-01,'=nlp,,,line,2026-01,training,,gpu,computing,billed,24000000,43200,",
        ",2026-01,'=nlp,,,line,2026-01,training,,gpu,idle,billed,24000000,43200,",
      ]);
    } finally {
      await fleet.import({ allocations: jobs('nlp') });
    }
  });
});

describe('closing months', () => {
  it('freezes them, puts corrections on the next ones, and always adds up to the ledger', async () => {
    // Nothing is written without --apply.
    expect((await bursar('statement', 'close', '2026-01')).data).toContain('would issue 2 statements, $100.80');
    expect((await bursar('statement', 'list')).data).toContain('No month is closed yet');
    expect((await bursar('statement', 'close', '2026-02', '--apply')).talk).toContain('2026-01 lies before 2026-02');
    await bursar('statement', 'close', '2026-01', '--apply');
    await checkLaw('2026-01');
    const printed = await bursar('statement', '--team', 'nlp', '--month', '2026-01');
    expect(printed.data).toContain('Showback statement: 2026-01-001, issued');

    // The bill is issued anew, dearer; then somebody finds out that the job was of vision.
    await fleet.import({ charges: january('144.00') });
    await checkLaw('2026-01');
    const next = await bursar('statement', '--team', 'nlp', '--month', '2026-02');
    expect(next.data).toContain('2026-01  +$24.00  bill AWS|1|2026-01 issued anew');
    await fleet.import({ allocations: jobs('vision') });
    await checkLaw('2026-01');
    expect(await bursar('statement', '--team', 'nlp', '--month', '2026-01')).toEqual(printed);

    await bursar('statement', 'close', '2026-02', '--apply');
    await checkLaw('2026-01-01/2026-03-01');
    const list = await bursar('statement', 'list');
    expect(list.data).toContain('2 months closed; the ledger still says what was stated');
    const vision = await bursar('statement', '--team', 'vision', '--month', '2026-02', '--json');
    expect(JSON.parse(vision.data)).toMatchObject({
      number: '2026-02-003',
      amountCents: '0',
      dueCents: '7200',
      adjustments: [{ month: '2026-01', usdMicros: '72000000', amountCents: '7200' }],
    });

    // Reopened, what February's statements had adjusted is open again; its numbers are gone.
    expect((await bursar('statement', 'reopen', '2026-01', '--apply')).talk).toContain('not the newest closed month');
    await bursar('statement', 'reopen', '2026-02', '--apply');
    await checkLaw('2026-01');
    const pending = await bursar('statement', 'list');
    expect(pending.data).toContain('says something else by now');
    await bursar('statement', 'close', '2026-02', '--apply');
    await checkLaw('2026-01-01/2026-03-01');
    const again = await bursar('statement', '--month', '2026-02', '--json');
    const numbers = (JSON.parse(again.data) as { rows: { number: string }[] }).rows.map(({ number }) => number);
    expect(numbers).toEqual(['2026-02-005', '2026-02-006', '2026-02-007', '2026-02-008']);
    expect((await bursar('statement', 'close', '2026-02')).talk).toContain('2026-02 is closed already');
  });
});

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);
if (!hasBrowser) console.warn(`skipped: the sheet of a statement in a browser; no chromium at ${executablePath}`);

describe.skipIf(!hasBrowser)('the sheet in a browser', () => {
  it('is one A4 page that loads nothing and runs nothing', async () => {
    const file = join(fleet.dataDir, '..', 'sheet.html');
    await bursar('statement', '--team', 'nlp', '--month', '2026-02', '--html', file);
    const html = await readFile(file, 'utf8');
    expect(html).not.toMatch(/<script|<img|<link|https?:|style="/);
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(pathToFileURL(file).href);
      expect(asked).toEqual([pathToFileURL(file).href]);
      const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
      expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
      expect(await page.locator('h1').allTextContents()).toEqual(['GPU showback statement']);
    } finally {
      await browser.close();
    }
  });
});
