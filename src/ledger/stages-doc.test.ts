import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { STAGES } from './stages.ts';

const page = await readFile(new URL('README.md', import.meta.url), 'utf8');

const headings = [...page.matchAll(/^## .+$/gm)].flatMap(([heading]) => heading.split(/[ ,]+/));

it.each(STAGES.map(({ name }) => name))('a section of the page says what %s is', (name) => {
  expect(headings).toContain(name);
});
