import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fleetFolder } from './fleet-folder.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { labPart } from './lab.ts';
import { runServer } from './running-server.ts';
import type { RunningServer } from './running-server.ts';
import { SMALL_FLEET } from './small-fleet.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RULES = join(ROOT, 'prometheus/bursar-alerts.yaml');
const prometheus = labPart('prometheus');

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const dashboard = JSON.parse(readFileSync(join(ROOT, 'grafana/bursar-dashboard.json'), 'utf8')) as Dashboard;
const rules = (parse(readFileSync(RULES, 'utf8')) as Rules).groups.flatMap((group) => group.rules);

/** Every metric of ours that an expression names, and those of the process. */
function namedIn(expression: string): string[] {
  return expression.match(/\b(?:bursar|process)_[a-z_]+/g) ?? [];
}

describe('what the dashboard and the alerts ask for', () => {
  let fleet: FleetFolder;
  let server: RunningServer;
  let text = '';

  beforeAll(async () => {
    fleet = await fleetFolder(SMALL_FLEET);
    server = await runServer(fleet.dataDir);
    await fetch(`${server.url}/api/v1/spend?by=team`);
    text = await (await fetch(`${server.url}/metrics`)).text();
  });
  afterAll(async () => {
    await server.close();
    await fleet.remove();
  });

  const asked = [
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ];
  it.each(asked)('%s names metrics the server has', (_, expression) => {
    const known = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    const named = namedIn(expression);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(named.length + Number(expression.includes('up{'))).toBeGreaterThan(0);
  });

  it('and those of the server are told in docs/METRICS.md, each of them and no other', () => {
    const had = [...text.matchAll(/^# TYPE (bursar_\S+) /gm)].map(([, name = '']) => name);
    const told = readFileSync(join(ROOT, 'docs/METRICS.md'), 'utf8').match(/(?<=`)bursar_[a-z_]+/g) ?? [];
    expect([...new Set(told)].toSorted()).toEqual(had.toSorted());
  });

  it('counts requests by route, never by address', () => {
    expect(text).toMatch(
      /bursar_http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/spend",status="200"\} 1/,
    );
  });

  it('says the money of the last whole day by team, as the ledger has it', async () => {
    const told = [...text.matchAll(/^bursar_day_paid_usd\{.*\} (\S+)$/gm)].reduce(
      (sum, [, usd]) => sum + Number(usd),
      0,
    );
    const spent = (await (await fetch(`${server.url}/api/v1/spend?window=2026-03-02`)).json()) as {
      totalUsdMicros: string;
    };
    expect(Math.round(told * 1e6)).toBe(Number(spent.totalUsdMicros));
  });

  it('leaves out what nobody knows: there is no derivation yet, and no source', () => {
    expect(text).not.toMatch(/^bursar_source_age_seconds/m);
    expect(text).toMatch(/^bursar_bill_difference_usd 0$/m);
  });
});

describe.skipIf(!prometheus.installed)('the alerts in a real Prometheus', () => {
  let folder = '';
  let fleet: FleetFolder;
  let server: RunningServer;
  let url = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-metrics-'));
    fleet = await fleetFolder(SMALL_FLEET);
    server = await runServer(fleet.dataDir);
    const target = `${new URL(server.url).host}/metrics,job=bursar`;
    const variables = await prometheus.start(folder, { RULES, SCRAPE_INTERVAL: '1s' }, target);
    url = variables['PROMETHEUS_URL'] ?? '';
  });
  afterAll(async () => {
    await prometheus.stop(folder);
    await server.close();
    await fleet.remove();
    rmSync(folder, { recursive: true });
  });

  it('pass the cases written beside them', async () => {
    const said = await prometheus.run('test-rules', [RULES.replace('.yaml', '.test.yaml')]);
    expect(said.trim().split('\n').at(-1)?.trim()).toBe('SUCCESS');
  });

  it('are evaluated over what a real Prometheus scrapes', async () => {
    const query = async (expression: string): Promise<readonly Sample[]> => {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const { data } = (await response.json()) as { data: { result: readonly Sample[] } };
      return data.result;
    };
    // Prometheus finds the target within its own time; until then nobody scrapes it, and one alert says so.
    const deadline = Date.now() + 40_000;
    while ((await query('ALERTS{alertname="BursarFactsOld"}')).length === 0 && Date.now() < deadline) await delay(200);
    expect((await query('up{job="bursar"}')).map(({ value }) => value[1])).toEqual(['1']);
    expect((await query('sum(bursar_day_paid_usd)')).map(({ value }) => value[1])).toEqual(['34.06']);
    // Facts of March are old, and of job 102 nobody knows what it did; all else is well.
    const alerts = await query('ALERTS{alertname!="BursarDown"}');
    expect(alerts.map(({ metric }) => metric['alertname'] ?? '').toSorted()).toEqual([
      'BursarFactsOld',
      'BursarUnknownShare',
    ]);
  });
});
