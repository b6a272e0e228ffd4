import { expect, it } from 'vitest';
import { pasteLine } from './finding-words.ts';

it.each([
  ['scancel 11', 'scancel 11'],
  ['bursar work record --run sft', 'bursar work record --run sft --data ./d'],
  ['bursar rules suggest > suggested.yaml', 'bursar rules suggest --data ./d > suggested.yaml'],
  [`bursar spend --filter 'model=a > b'`, `bursar spend --filter 'model=a > b' --data ./d`],
  [`bursar spend --filter 'model=a > b'  # who rents`, `bursar spend --filter 'model=a > b' --data ./d  # who rents`],
  [`bursar spend --filter "team=it's #1" | less`, `bursar spend --filter "team=it's #1" --data ./d | less`],
  [`bursar rules test --team it's`, `bursar rules test --team it's --data ./d`],
])('%s is pasted as %s', (line, want) => expect(pasteLine(line, ' --data ./d')).toBe(want));
