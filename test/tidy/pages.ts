import { posix } from 'node:path';
import { importsOf, syntaxNodes } from './syntax.ts';
import { isTest, lineAt, type Rule } from './tree.ts';

/** What runs in a browser as it does here: exact money, its rounding for the eye, cells and words that are safe to paste; nothing that reads or writes. */
const SHARED = /^src\/(money\/[\w-]+|report\/(?:figures|safe-text|shell-word))\.ts$/;
/** Of the API pages know the shapes of its answers. */
const SHAPES = /^src\/api\//;

/** The pages speak HTTP: they import themselves, packages, shared arithmetic, and types of the API. */
export const pageImports: Rule = (files) =>
  files
    .filter(({ path }) => /^web\/src\/.*\.tsx?$/.test(path) && !isTest(path))
    .flatMap(({ path, text }) =>
      importsOf(syntaxNodes(text, 'tsx')).flatMap(({ target, typeOnly, start }) => {
        if (!target.startsWith('.')) return [];
        const resolved = posix.join(posix.dirname(path), target);
        if (resolved.startsWith('web/') || SHARED.test(resolved) || (typeOnly && SHAPES.test(resolved))) return [];
        return [`${path}:${lineAt(text, start)}: a page may not import ${resolved}`];
      }),
    );

/** The content security policy refuses style attributes and markup from text; a label would be the way in. */
export const pageMarkup: Rule = (files) =>
  files
    .filter(({ path }) => /^web\/.*\.(tsx?|html)$/.test(path))
    .flatMap(({ path, text }) =>
      [
        ...text.matchAll(/\bstyle=|dangerouslySetInnerHTML|\.innerHTML\b|\.outerHTML\b|insertAdjacentHTML|<script>/g),
      ].map((match) => `${path}:${lineAt(text, match.index)}: ${match[0]} is refused by the content security policy`),
    );

/** Colours have one meaning each, and one file that names them. */
export const pageColours: Rule = (files) =>
  files
    .filter(({ path }) => /^web\/src\/style\/.*\.css$/.test(path) && !path.endsWith('/tokens.css'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/#[0-9a-f]{3,8}\b(?=[^{}]*;)/gi)].map(
        (match) => `${path}:${lineAt(text, match.index)}: ${match[0]}: colours are named in tokens.css`,
      ),
    );
