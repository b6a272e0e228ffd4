import { expect, it } from 'vitest';
import { whoseWords } from './whose-words.ts';

it.each([
  [{}, 0, ''],
  [{ search: 'llama' }, 0, 'that matches “llama”'],
  [{ search: 'llama' }, 1, 'that matches “llama”'],
  [{ search: 'llama', team: 'nlp' }, 2, 'that match “llama” of nlp'],
  [{ filter: 'class=training' }, 0, 'that matches the filter'],
  [{ search: 'llama', filter: 'class=training' }, 3, 'that match “llama” and the filter'],
])('%j of %d jobs', (words, jobs, want) => expect(whoseWords(words, jobs)).toBe(want));
