import { dottedName, importsOf, syntaxNodes } from './syntax.ts';
import { isTest, isTypeScript, lineAt, type Rule } from './tree.ts';

/** Exact in every build of every engine: what IEEE 754 rounds correctly, and 32-bit integers. */
const EXACT_MATH = new Set(['abs', 'ceil', 'clz32', 'floor', 'imul', 'max', 'min', 'round', 'sign', 'sqrt', 'trunc']);
const NOT_REPEATABLE = /^(Date\.now|performance\.\w+|process\.\w+|Intl\.\w+|globalThis\.\w+)$/;
const LOCAL = /\.(localeCompare|toLocale\w*|getTimezoneOffset|get(Hours|Day|Date|Month|FullYear|Minutes))$/;

/**
 * The same seed gives the same world on any machine: no clock, no chance of its own, no locale and no local time, no function of
 * `Math` whose last digit depends on the build, no power (`**` is `Math.pow`), no sort without a stated order.
 */
export const repeatable: Rule = (files) =>
  files
    .filter(({ path }) => isTypeScript(path) && !isTest(path) && path.startsWith('src/demo/'))
    .flatMap(({ path, text }) => {
      const nodes = syntaxNodes(text);
      const imports = importsOf(nodes)
        .filter(({ target }) => target.startsWith('node:') && !target.startsWith('node:assert'))
        .map(({ target, start }) => ({ what: `imports ${target}`, start }));
      const uses = nodes.flatMap((node) => {
        const what = problemOf(node);
        return what === undefined ? [] : [{ what, start: node.start }];
      });
      return [...imports, ...uses].map(({ what, start }) => `${path}:${lineAt(text, start)}: ${what}`);
    });

function problemOf(node: { readonly type: string; readonly [field: string]: unknown }): string | undefined {
  if (node.type === 'MemberExpression') {
    const name = dottedName(node) ?? `.${dottedName(node['property']) ?? ''}`;
    const math = /^Math\.(\w+)$/.exec(name)?.[1];
    if (math !== undefined && !EXACT_MATH.has(math)) return `${name} differs between machines`;
    if (NOT_REPEATABLE.test(name) || LOCAL.test(name)) return `${name} depends on the machine`;
  }
  if (/^(Binary|Assignment)Expression$/.test(node.type) && String(node['operator']).startsWith('**'))
    return 'a power differs between machines';
  const withoutArguments = Array.isArray(node['arguments']) && node['arguments'].length === 0;
  const callee = dottedName(node['callee']) ?? '';
  if (node.type === 'NewExpression' && callee === 'Date' && withoutArguments) return 'the clock';
  const method = node.type === 'CallExpression' ? (node['callee'] as Record<string, unknown>)['property'] : undefined;
  if (withoutArguments && /^(sort|toSorted)$/.test(dottedName(method) ?? '')) return 'a sort without its order';
  return undefined;
}
