export { shellWord } from '../facts/shell-word.ts';
