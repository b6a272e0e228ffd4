import { expect, it } from 'vitest';
import { searchPlace } from './search-place.ts';

const known = {
  teams: () => Promise.resolve(['nlp', 'Vision & more']),
  hasNode: (node: string) => Promise.resolve(node === 'train-1'),
};

it.each([
  ['f-12', { path: '/findings/F-12', words: {} }],
  ['GPU-0041f477', { path: '/fleet', words: { gpu: 'GPU-0041f477' } }],
  ['MIG-9', { path: '/fleet', words: { gpu: 'MIG-9' } }],
  ['NLP', { path: '/teams/nlp', words: {} }],
  ['vision & more', { path: '/teams/Vision%20%26%20more', words: {} }],
  ['train-1', { path: '/fleet', words: { filter: 'node=train-1' } }],
  ['llm-pretrain', { path: '/jobs', words: { search: 'llm-pretrain' } }],
])('%s leads to %j', async (word, want) => expect(await searchPlace(word, known)).toEqual(want));
