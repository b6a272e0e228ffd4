import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readConfig } from '../config/config-file.ts';
import { ATTRIBUTES } from './attribute.ts';

const doc = await readFile(new URL('../../../docs/RULES.md', import.meta.url), 'utf8');

test('the example of docs/RULES.md is a configuration, and means what it says', () => {
  const yaml = /```yaml\n([\s\S]*?)```/.exec(doc)?.[1] ?? '';
  const book = readConfig(yaml).rules;
  expect(book?.rules.map(({ title }) => title)).toEqual([
    'rule 1: namespace nlp-*',
    'rule 2: service accounts',
    "rule 3: name sweep-*, label.class ''",
    'rule 4: namespace sandbox-*|!sandbox-prod',
    'rule 5: account vision',
  ]);
  expect(book?.shared).toHaveLength(3);
});

test('docs/RULES.md names every attribute', () => {
  for (const name of Object.keys(ATTRIBUTES)) expect(doc).toContain(`\`${name}\``);
});
