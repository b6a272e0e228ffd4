import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FACT_TABLES, factTableByName } from '../src/facts/fact-table.ts';
import { DETECTORS } from '../src/waste/detectors.ts';
import { decisionNumbers, detectorTable, factExamples, glossaryWords, links } from './tidy/documents.ts';
import { importTable, purity } from './tidy/imports.ts';
import { pageColours, pageImports, pageMarkup } from './tidy/pages.ts';
import { fileNames, fileSizes, nobodyLetOff, nothingOfOneMachine } from './tidy/names.ts';
import { notPortable, portableSql } from './tidy/portable-sql.ts';
import { repeatable } from './tidy/repeatable.ts';
import { repoFiles, type RepoFile, type Rule } from './tidy/tree.ts';

/** The house rules. Each first proves on bad examples that it can fail, then looks at the repository. */
interface HouseRule {
  readonly rule: Rule;
  /** The rule with what it needs from the repository, where the examples bring their own. */
  readonly inRepository?: Rule;
  /** Each of these, alone, must be refused. */
  readonly bad: Readonly<Record<string, RepoFile | readonly RepoFile[]>>;
  /** All of these together must pass. */
  readonly good: readonly RepoFile[];
}

const file = (path: string, text = ''): RepoFile => ({ path, text });
const ledger = (text: string) => file('src/ledger/held.ts', text);
const demo = (text: string) => file('src/demo/work/training.ts', text);
const sql = (text: string) => ledger(`export const sql = \`SELECT ${text} FROM t\`;`);
const detectorRows = (...rows: string[]) =>
  file('ARCHITECTURE.md', ['# A', '', '| category | detectors |', '|---|---|', ...rows, '', 'End.'].join('\n'));
const glossary = (...words: string[]) =>
  file('docs/GLOSSARY.md', words.map((word) => `| **${word}** | What it means. |`).join('\n'));
const decision = (number: string) => file(`docs/decisions/${number}-why.md`, '# Why\n');
/** Written in pieces, so that this file does not break the rule it tests. */
const path = (...parts: string[]) => ['', ...parts].join('/');
const letOff = (linter: string) => [linter, 'disable'].join('-');

const rules: Record<string, HouseRule> = {
  'folders import only what lies before them on the dollar’s way': {
    rule: importTable,
    bad: {
      'ledger imports the engine': file('src/ledger/held.ts', "import { ask } from '../lake/engine.ts';"),
      'even when it is only a type': file('src/ledger/held.ts', "import type { Ask } from '../lake/engine.ts';"),
      'or lazily': file('src/cli/commands/look.ts', "const lake = await import('../../lake/engine.ts');"),
      'or by passing it on': file('src/facts/all.ts', "export * from '../lake/engine.ts';"),
      'or as a type in place': file('src/money/usd.ts', "export type X = import('../facts/stage.ts').Stage;"),
      'a report uses a stage': file('src/report/table.ts', "import { held } from '../ledger/held.ts';"),
      'a folder nobody knows': file('src/shared/x.ts', ''),
      'a file without a folder': file('src/x.ts', ''),
      'a detector’s test knows the made-up worlds': file('src/waste/idle.test.ts', "import '../demo/world.ts';"),
      'a file needs a test': file('src/lake/engine.ts', "import { rows } from './engine.test.ts';"),
    },
    good: [
      file('src/app/look.ts', "import { ask } from '../lake/engine.ts';\nimport { join } from 'node:path';"),
      file('src/report/table.ts', "import type { Held } from '../ledger/held.ts';"),
      file('src/ledger/held.test.ts', "import { ask } from '../lake/engine.ts';"),
      file('src/cli/main.ts', "import manifest from '../../package.json' with { type: 'json' };"),
    ],
  },
  'the ledger and what thinks about it have no clock, file, network or engine': {
    rule: purity,
    bad: {
      'the time of day': ledger('export const now = Date.now();'),
      'another way to it': ledger('export const now = new Date();'),
      'a file': ledger("import { readFileSync } from 'node:fs';"),
      'the environment': ledger('export const home = process.env;'),
      'the network': ledger('export const page = await fetch(url);'),
      'the engine': ledger("import type { DuckDBConnection } from '@duckdb/node-api';"),
      chance: file('src/plan/spot.ts', 'export const dice = Math.random();'),
    },
    good: [
      ledger(
        '/** Date.now() and process.env are refused. */\nexport const at = new Date(day); row.process; "fetch()";',
      ),
      file('src/app/clock.ts', 'export const now = Date.now();'),
    ],
  },
  'a made-up world is the same on every machine': {
    rule: repeatable,
    bad: {
      'a logarithm': demo('export const wait = -Math.log(1 - place);'),
      'a power': demo('export const decay = 0.5 ** days;'),
      'chance of its own': demo('export const dice = Math.random();'),
      'the clock': demo('export const begun = new Date();'),
      'another way to it': demo('export const begun = Date.now();'),
      'a local hour': demo('export const hour = at.getHours();'),
      'a locale': demo('export const words = (a, b) => a.name.localeCompare(b.name);'),
      'a sort without its order': demo('export const names = list.map(String).toSorted();'),
      'a file': demo("import { readFileSync } from 'node:fs';"),
    },
    good: [
      demo(
        'export const day = new Date(ms).getUTCDay() + Math.sqrt(Math.floor(x / 2)); list.toSorted((a, b) => a - b);',
      ),
      file('src/plan/forecast.ts', 'export const wait = -Math.log(1 - place);'),
    ],
  },
  'stages are written in SQL that every engine reads the same': {
    rule: portableSql,
    bad: {
      'of a template': sql('x::BIGINT'),
      'of a plain string': ledger("export const part = 'CASE WHEN a THEN greatest(a, b) END';"),
      'around what is inserted': ledger('export const div = (a: string) => `CAST(${a} / 3600 AS BIGINT)`;'),
    },
    good: [
      sql("CAST((${row.t} * c - ${row.t} * c % w) / w AS BIGINT), 'a::b // c'".replaceAll(' * c', '')),
      ledger('export const message = `${held} / ${paid}`;'),
      file('src/lake/engine.ts', 'export const sql = `SELECT x::BIGINT FROM t`;'),
    ],
  },
  'pages speak HTTP': {
    rule: pageImports,
    bad: {
      'a page asks the ledger itself': file(
        'web/src/pages/spend.tsx',
        "import { spend } from '../../../src/app/spend.ts';",
      ),
      'a page runs a route': file('web/src/ask.ts', "import { spendRoute } from '../../src/api/routes/spend.ts';"),
    },
    good: [
      file(
        'web/src/ask.tsx',
        "import type { SpendReply } from '../../src/api/routes/spend.ts';\nconst page = <p>1</p>;",
      ),
      file('web/src/figures.ts', "import { dollars } from '../../src/report/figures.ts';"),
      file('web/src/csv.ts', "import { csvLine } from '../../src/report/safe-text.ts';"),
    ],
  },
  'pages pass the content security policy': {
    rule: pageMarkup,
    bad: {
      'a style attribute': file('web/src/parts/bar.tsx', 'const bar = <i style={{ width: 3 }} />;'),
      'markup from text': file(
        'web/src/parts/label.tsx',
        'const label = <i dangerouslySetInnerHTML={{ __html: name }} />;',
      ),
      'a script in the page': file('web/index.html', '<script>run()</script>'),
    },
    good: [file('web/src/parts/bar.tsx', 'const bar = <rect width={3} className="f-idle" />;')],
  },
  'colours are named once': {
    rule: pageColours,
    bad: { 'a colour of its own': file('web/src/style/spend.css', '.bar { fill: #bd5504; }') },
    good: [
      file('web/src/style/tokens.css', ':root { --idle: #bd5504; }'),
      file('web/src/style/spend.css', ".bar { fill: var(--idle); } .x { fill: url('#hatch'); }"),
    ],
  },
  'file names say what is in them': {
    rule: fileNames,
    bad: {
      'utils say nothing': file('src/lake/utils.ts'),
      'nor with a word before': file('src/lake/sql-helpers.ts'),
      'nor as a folder': file('src/common/money.ts'),
      'index is a place, not a thing': file('test/index.ts'),
      'not camelCase': file('src/lake/parquetFile.ts'),
      'not snake_case': file('bench/ten_days.ts'),
      'not as components are called': file('web/src/parts/DataTable.tsx'),
    },
    good: [file('src/lake/parquet-file.test.ts'), file('bin/bursar.js'), file('src/ledger/README.md')],
  },
  'a source file has one noun': {
    rule: fileSizes,
    bad: {
      'four hundred and one lines': file('src/lake/engine.ts', 'x;\n'.repeat(401)),
      'of a page': file('web/src/pages/spend.tsx', 'x;\n'.repeat(401)),
    },
    good: [file('src/lake/engine.ts', 'x;\n'.repeat(400))],
  },
  'nobody is let off a rule': {
    rule: nobodyLetOff,
    bad: {
      'a line': file('src/lake/engine.ts', `${letOff('oxlint')}-next-line no-empty`),
      'a file, by another linter’s name': file('test/x.test.ts', `/* ${letOff('eslint')} */`),
    },
    good: [file('src/lake/engine.ts', 'const disable = true; // The linter is not disabled.')],
  },
  'nothing of the machine it was written on': {
    rule: nothingOfOneMachine,
    bad: {
      'a home': file('README.md', `Data lies in ${path('home', 'kim', 'data')}.`),
      another: file('src/lake/engine.ts', `const folder = '${path('root', 'x')}';`),
      'a work folder': file('docs/FACTS.md', `\`${path('work')}\``),
      'a shared folder instead of the system’s': file('src/lake/engine.ts', `open('${path('tmp', 'x.db')}')`),
      'a registry': file('.npmrc', `registry=https:/${path('registry.example.com')}`),
      'a lockfile that names one': file(
        'package-lock.json',
        `      "resolved": "https:/${path('x.example', 'a.tgz')}"`,
      ),
    },
    good: [
      file('README.md', `https:/${path('example.com', 'work', 'root')} and src${path('work')}, CPU${path('tmp')}`),
    ],
  },
  'every fact table has an example file in docs/FACTS.md': {
    rule: factExamples([factTableByName('gpu_sample')]),
    inRepository: factExamples(FACT_TABLES),
    bad: {
      'no document': [],
      'no section': file('docs/FACTS.md', '# Facts\n\n## `node`\n'),
      'no example': file('docs/FACTS.md', '## `gpu_sample`\n\nSamples.\n'),
      'a column that does not exist': file('docs/FACTS.md', '## `gpu_sample`\n```csv\ndevice_id,ts,colour\n```\n'),
      'a required column is missing': file('docs/FACTS.md', '## `gpu_sample`\n```csv\nutil_permille\n```\n'),
    },
    good: [file('docs/FACTS.md', '## `gpu_sample`\n\nSamples.\n\n```csv\ndevice_id,ts,util_permille\n```\n')],
  },
  'ARCHITECTURE.md tells the detectors that are asked, by category': {
    rule: detectorTable([
      { name: 'sleeping-dogs', category: 'idle' },
      { name: 'empty-kennels', category: 'unallocated' },
      { name: 'lazy-dogs', category: 'idle' },
    ]),
    inRepository: detectorTable(DETECTORS),
    bad: {
      'no document': [],
      'no table': file('ARCHITECTURE.md', '# A\n\n`sleeping-dogs`, `lazy-dogs`, `empty-kennels`\n'),
      'one is missing': detectorRows('| idle | `sleeping-dogs` |', '| unallocated | `empty-kennels` |'),
      'one is asked no more': detectorRows(
        '| idle | `sleeping-dogs`, `lazy-dogs`, `dead-dogs` |',
        '| unallocated | `empty-kennels` |',
      ),
      'one stands in another category': detectorRows(
        '| idle | `sleeping-dogs`, `lazy-dogs`, `empty-kennels` |',
        '| unallocated | |',
      ),
      'the surest is not the first': detectorRows(
        '| idle | `lazy-dogs`, `sleeping-dogs` |',
        '| unallocated | `empty-kennels` |',
      ),
      'a category is missing': detectorRows('| idle | `sleeping-dogs`, `lazy-dogs` |'),
      'a category nobody asks about': detectorRows(
        '| idle | `sleeping-dogs`, `lazy-dogs` |',
        '| unallocated | `empty-kennels` |',
        '| lost | `lost-dogs` |',
      ),
    },
    good: [detectorRows('| unallocated | `empty-kennels` |', '| idle | `sleeping-dogs`; it only asks: `lazy-dogs` |')],
  },
  'the glossary explains a word once': {
    rule: glossaryWords,
    bad: {
      'no document': [],
      'twice the same': glossary('idle', 'gap', 'idle'),
      'also beside others': glossary('parked, bare', 'bare'),
    },
    good: [glossary('gap', 'gap (of a source)', 'parked, bare')],
  },
  'decisions are numbered without gaps': {
    rule: decisionNumbers,
    bad: {
      'a gap': [decision('0001'), decision('0003')],
      'twice the same': [decision('0001'), file('docs/decisions/0001-zebra.md', '# Z\n')],
      'no number': file('docs/decisions/why.md', '# Why\n'),
      'no title': file('docs/decisions/0001-why.md', 'Because.\n'),
    },
    good: [decision('0001'), decision('0002'), file('docs/decisions/README.md', '# Decisions')],
  },
  'links in documents lead somewhere': {
    rule: links,
    bad: {
      'a file that is not there': file('README.md', 'See [facts](docs/FACTS.md).'),
      'a heading that is not there': [file('README.md', '[units](docs/F.md#units)'), file('docs/F.md', '# Facts\n')],
      'by reference': file('README.md', '[facts]: docs/FACTS.md'),
    },
    good: [
      file('docs/a.md', '[b](b.md#one-unit), [src](../src), [web](https://example.com), [here](#a)\n# A\n`[x](y)`'),
      file('docs/b.md', '## One `unit`\n```md\n[x](y)\n```\n'),
      file('src/x/y.ts'),
    ],
  },
};

describe('the house rules', () => {
  const repository = repoFiles(fileURLToPath(new URL('..', import.meta.url)));

  for (const [name, { rule, inRepository, bad, good }] of Object.entries(rules)) {
    describe(name, () => {
      it.each(Object.entries(bad))('refuses: %s', (_, example) => {
        expect(rule([example].flat())).not.toEqual([]);
      });
      it('passes what is right', () => expect(rule(good)).toEqual([]));
      it('holds in this repository', () => expect((inRepository ?? rule)(repository)).toEqual([]));
    });
  }

  it('sees this repository', () => {
    expect(repository.map((found) => found.path)).toContain('test/tidy.test.ts');
  });
});

describe('portable SQL', () => {
  it.each([
    'SELECT x FROM t QUALIFY row_number() OVER (ORDER BY x) = 1',
    'SELECT * FROM a ASOF JOIN b USING (ts)',
    'SELECT x FROM t GROUP BY ALL',
    'SELECT x::BIGINT FROM t',
    'SELECT list_sort(x) FROM t',
    'SELECT list(x) FROM t',
    'SELECT CAST(x AS TIMESTAMPTZ) FROM t',
    'SELECT a // b FROM t',
    'SELECT * EXCLUDE (x) FROM t',
    'SELECT greatest(a, b), least(a, b) FROM t',
    "SELECT concat(a, 'x') FROM t",
    "SELECT date_diff('hour', a, b) FROM t",
    "SELECT TIMESTAMP '2026-11-01T00:00:00Z' FROM t",
    'SELECT sum(x) FROM t',
    'SELECT CAST(sum(x) AS VARCHAR) FROM t',
    'SELECT CAST(a AS BIGINT), sum(x) OVER (ORDER BY y) FROM t',
    'SELECT avg(usd) FROM t',
    'SELECT median(x) FROM t',
    'SELECT quantile_cont(x, 0.5) FROM t',
    'SELECT h FROM generate_series(1, 24) AS s(h)',
    'SELECT element_at(m, k) FROM t',
    'SELECT lag(x) IGNORE NULLS OVER (ORDER BY y) FROM t',
    'SELECT arg_max(x, y) FROM t',
    'SELECT a / b FROM t',
    'SELECT CAST(a / b AS BIGINT) FROM t',
    'SELECT CAST((a - c % b) / b AS BIGINT) FROM t',
    'SELECT CAST((a - a % b) / c AS BIGINT) FROM t',
    'SELECT CAST((a - a % b) / b AS DOUBLE) FROM t',
    'SELECT CAST((a - a % b * c) / b * c AS BIGINT) FROM t',
    'SELECT CAST((a - b - a - b % c) / c AS BIGINT) FROM t',
    'SELECT x FROM t LIMIT 5 OFFSET 5',
  ])('refuses %s', (text) => expect(notPortable(text)).not.toEqual([]));

  it.each([
    'SELECT CAST(sum(x) AS BIGINT) FROM t',
    'SELECT CAST(sum(x) FILTER (WHERE y > 0) AS BIGINT) FROM t',
    'SELECT CAST(coalesce(sum(x), 0) AS DECIMAL(38,18)) FROM t',
    'SELECT CAST(sum(x) OVER (PARTITION BY a ORDER BY b ROWS UNBOUNDED PRECEDING) AS BIGINT) FROM t',
    'SELECT CAST((a - a % b) / b AS BIGINT) FROM t',
    'SELECT CAST((t * (cum - w) - t * (cum - w) % total) / total AS BIGINT) FROM t',
    'SELECT CAST((t * (cum) - (t * (cum)) % (a + b)) / (a + b) AS BIGINT) FROM t',
    'SELECT avg(CAST(x AS DOUBLE)) FROM t',
    "SELECT date_diff('second', a, b), split_part(x, '/', 1), 'a::b' FROM t -- a / b, sum(x)",
    'SELECT array_join(array_agg(x ORDER BY x), \',\') AS "a/b" FROM t',
    'SELECT row_number() OVER (ORDER BY a RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t',
    'SELECT max_by(x, y) FROM t OFFSET 5 LIMIT 5',
  ])('passes %s', (text) => expect(notPortable(text)).toEqual([]));
});
