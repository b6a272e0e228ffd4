import { posix } from 'node:path';
import { dottedName, importsOf, syntaxNodes } from './syntax.ts';
import { isTest, isTypeScript, lineAt, type Rule } from './tree.ts';

const DOMAIN = ['sources', 'lake', 'ledger', 'waste', 'plan', 'guard', 'act', 'savings', 'report', 'state', 'demo'];

/** A dollar's way: which folder of src may import which. Everything may import itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  money: [],
  facts: ['money'],
  sources: ['money', 'facts'],
  lake: ['money', 'facts'],
  ledger: ['money', 'facts'],
  waste: ['money', 'facts'],
  plan: ['money', 'facts'],
  guard: ['money', 'facts'],
  act: ['money', 'facts', 'guard'],
  savings: ['money', 'facts'],
  report: ['money', 'facts'],
  state: ['money', 'facts'],
  demo: ['money', 'facts'],
  app: ['money', 'facts', ...DOMAIN],
  cli: ['money', 'facts', 'app', 'report', 'api'],
  api: ['money', 'facts', 'app', 'report'],
  mcp: ['money', 'facts', 'app', 'report'],
};

/** A report prints results, so it may know their types. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  report: ['ledger', 'waste', 'plan', 'savings'],
};

/** Not even in a test: detectors that have seen the made-up worlds find what they were told. */
const STRANGERS = [
  ['demo', 'waste'],
  ['waste', 'demo'],
];

/** Folders without clock, file, network or engine: time and data are arguments. */
const PURE = new Set(['ledger', 'waste', 'plan', 'guard', 'savings']);
const IMPURE_NAMES = /^(Date\.now|Math\.random|(process|performance|globalThis|console)\.\w+)$/;
const IMPURE_CALLS = new Set(['fetch', 'Date', 'require', 'setTimeout', 'setInterval', 'setImmediate']);

function folderOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

/** Tests beside a file may import what they need to run it for real, an engine under a stage for one. */
export const importTable: Rule = (files) =>
  files
    .filter(({ path }) => isTypeScript(path) && path.startsWith('src/'))
    .flatMap(({ path, text }) => {
      const folder = folderOf(path);
      const allowed = folder === undefined ? undefined : MAY_IMPORT[folder];
      if (folder === undefined || allowed === undefined) return [`${path}:1: its folder is not in the import table`];
      return importsOf(syntaxNodes(text)).flatMap(({ target, typeOnly, start }) => {
        if (!target.startsWith('.')) return [];
        const at = `${path}:${lineAt(text, start)}`;
        const resolved = posix.join(posix.dirname(path), target);
        if (isTest(resolved) && !isTest(path)) return [`${at}: imports the test ${target}`];
        const other = folderOf(resolved);
        if (other === undefined || other === folder) return [];
        if (STRANGERS.some(([a, b]) => a === folder && b === other))
          return [`${at}: ${folder} and ${other} are strangers`];
        if (isTest(path) || allowed.includes(other)) return [];
        if (typeOnly && MAY_IMPORT_TYPES[folder]?.includes(other)) return [];
        return [`${at}: ${folder} may not import ${other}`];
      });
    });

export const purity: Rule = (files) =>
  files
    .filter(({ path }) => isTypeScript(path) && !isTest(path) && PURE.has(folderOf(path) ?? ''))
    .flatMap(({ path, text }) => {
      const nodes = syntaxNodes(text);
      const imports = importsOf(nodes)
        .filter(({ target }) => target.startsWith('node:') || /^@(duckdb|photostructure)\//.test(target))
        .map(({ target, start }) => ({ what: `imports ${target}`, start }));
      const uses = nodes.flatMap((node) => {
        const member = node.type === 'MemberExpression' ? dottedName(node) : undefined;
        const callee = dottedName(node['callee']);
        const called = node.type === 'CallExpression' && callee !== undefined && IMPURE_CALLS.has(callee);
        const clock =
          node.type === 'NewExpression' && callee === 'Date' && (node['arguments'] as unknown[]).length === 0;
        if (member !== undefined && IMPURE_NAMES.test(member)) return [{ what: `uses ${member}`, start: node.start }];
        return called || clock ? [{ what: `calls ${callee}()`, start: node.start }] : [];
      });
      return [...imports, ...uses].map(({ what, start }) => `${path}:${lineAt(text, start)}: is pure and ${what}`);
    });
