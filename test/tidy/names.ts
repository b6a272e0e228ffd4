import { lineAt, type Rule } from './tree.ts';

/** Words that say nothing about what a file holds. */
const EMPTY_WORDS = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'misc', 'index']);
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const SOURCE_LINES_MAX = 400;
/** The design's own file, used as it is. */
const TOKENS = 'web/src/style/tokens.css';

export const fileNames: Rule = (files) =>
  files
    .filter(({ path }) => /^(src|web|test|bench|bin|lab)\/.*\.(m?[jt]s|tsx)$/.test(path))
    .flatMap(({ path }) =>
      path
        .replace(/(\.fuzz)?(\.(test|config))?\.(m?[jt]s|tsx)$/, '')
        .split('/')
        .flatMap((part) => {
          const empty = part.split('-').find((word) => EMPTY_WORDS.has(word));
          if (empty !== undefined) return [`${path}:1: "${empty}" does not say what is in it`];
          return KEBAB.test(part) ? [] : [`${path}:1: "${part}" is not kebab-case`];
        }),
    );

export const fileSizes: Rule = (files) =>
  files
    .filter(({ path }) => /^(src|web)\/.*(?<!\.d)\.(tsx?|css)$/.test(path) && path !== TOKENS)
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > SOURCE_LINES_MAX)
    .map(({ path, lines }) => `${path}:${lines}: more than ${SOURCE_LINES_MAX} lines ask for a second noun`);

const NOT_PUBLIC: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(?<![\w./~$}-])\/(?:work|root|tmp|Users|home\/\w+)(?=[/\s'"`)]|$)/gm, 'a path of one machine'],
  [/\b[A-Z]:\\Users\\/g, 'a path of one machine'],
  [
    /\bregistry\.(?:npmjs|yarnpkg)\.\w+|https?:\/\/[^\s"'/]*(?:registry|artifactory|nexus|verdaccio)[^\s"'/]*/g,
    'a registry',
  ],
  [/^ +"resolved"\s*: "(?!node_modules)/gm, 'a registry (keep omit-lockfile-registry-resolved in .npmrc)'],
];

/** A rule that is in the way is changed for all, in the open; nobody is let off it in a comment. */
export const nobodyLetOff: Rule = (files) =>
  files
    .filter(({ path }) => /^(src|web|test|bench|bin|lab)\/.*\.(m?[jt]s|tsx)$/.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:ox|es)lint-(?:disable|enable)/g)].map(
        (match) => `${path}:${lineAt(text, match.index)}: ${match[0]}: write it so that the rule holds`,
      ),
    );

/** What only holds where the author sat. */
export const nothingOfOneMachine: Rule = (files) =>
  files.flatMap(({ path, text }) =>
    NOT_PUBLIC.flatMap(([pattern, what]) =>
      [...text.matchAll(pattern)].map((match) => `${path}:${lineAt(text, match.index)}: ${what}: ${match[0]}`),
    ),
  );
