import { parseAst } from 'rolldown/parseAst';

/** A node of the syntax tree; only what the rules look at is known about it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Import {
  readonly target: string;
  readonly typeOnly: boolean;
  readonly start: number;
}

/** Every node of a TypeScript text, parents before children. */
export function syntaxNodes(text: string, lang: 'ts' | 'tsx' = 'ts'): SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isNode(value)) {
      nodes.push(value);
      Object.values(value).forEach(visit);
    }
  };
  visit(parseAst(text, { lang }));
  return nodes;
}

/** What a text imports: statements, re-exports, `import()` and types written as `import('x').Y`. */
export function importsOf(nodes: readonly SyntaxNode[]): Import[] {
  return nodes.flatMap((node) => {
    if (!/^(Import(Declaration|Expression)|Export(All|Named)Declaration|TSImportType)$/.test(node.type)) return [];
    const target = isNode(node['source']) ? node['source']['value'] : undefined;
    if (typeof target !== 'string') return [];
    const typeOnly = node['importKind'] === 'type' || node['exportKind'] === 'type' || node.type === 'TSImportType';
    return [{ target, typeOnly, start: node.start }];
  });
}

/** The name of an identifier, or `a.b` of a plain member of one; undefined for everything else. */
export function dottedName(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === 'Identifier') return String(value['name']);
  if (value.type !== 'MemberExpression' || value['computed'] === true) return undefined;
  const object = dottedName(value['object']);
  return object === undefined ? undefined : `${object}.${dottedName(value['property']) ?? ''}`;
}

/** The texts between backticks and quotes; what is inserted stands as a word made of its source, so `${a.b}` is a_b. */
export function textLiterals(text: string, nodes: readonly SyntaxNode[]): { text: string; start: number }[] {
  return nodes.flatMap((node) => {
    if (node.type === 'Literal' && typeof node['value'] === 'string')
      return [{ text: node['value'], start: node.start }];
    if (node.type !== 'TemplateLiteral') return [];
    const quasis = node['quasis'] as { value: { cooked: string } }[];
    const inserted = node['expressions'] as SyntaxNode[];
    const words = inserted.map(({ start, end }) => text.slice(start, end).replaceAll(/\W+/g, '_'));
    return [{ text: quasis.map((quasi, i) => quasi.value.cooked + (words[i] ?? '')).join(''), start: node.start }];
  });
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
