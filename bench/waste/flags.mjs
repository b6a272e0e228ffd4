/** What the benchmark of waste can be told. Each flag has its words once: the usage, the reader and the command that repeats a run are made of them. */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { WORLDS } from './worlds.mjs';

/**
 * @typedef {object} Flags
 * @property {string} [seeds]
 * @property {string} [world]
 * @property {string} only
 * @property {string} step
 * @property {string} [data]
 * @property {string} gpus
 * @property {string} days
 * @property {boolean} quick
 * @property {boolean} keep
 * @property {boolean} strict
 * @property {boolean} scale
 * @property {boolean} help
 * @property {string} [place] the folder of --scale
 */

/** `takes` is what stands after it; `isRepeated` is what decides of which worlds a run is. */
const FLAGS = /** @type {const} */ ({
  quick: { type: 'boolean', default: false, isRepeated: true, words: 'one world, one seed' },
  seeds: { type: 'string', takes: '7,8', words: 'these seeds instead of two new ones' },
  only: { type: 'string', default: '', takes: 'WORDS', isRepeated: true, words: 'the worlds whose names have them' },
  world: { type: 'string', takes: 'FILE', isRepeated: true, words: "a world file of one's own" },
  step: { type: 'string', default: '5m', takes: '5m', isRepeated: true, words: 'time between samples in that world' },
  data: { type: 'string', takes: 'DIR', isRepeated: true, words: 'a demo that is there already; it must be derived' },
  gpus: { type: 'string', default: '120', takes: '120', isRepeated: true, words: 'GPUs of each demo' },
  days: { type: 'string', default: '14', takes: '14', isRepeated: true, words: 'days of each demo' },
  keep: { type: 'boolean', default: false, words: 'leaves the demos in bench-data, to look into them' },
  strict: { type: 'boolean', default: false, words: 'ends with 1 where a bar is missed' },
  scale: {
    type: 'boolean',
    default: false,
    takes: '[DIR]',
    words: 'what `findings`, `waste` and `runaway` cost with 10,000 GPUs × 30 days; DIR: a demo of that size',
  },
  help: { type: 'boolean', default: false, words: 'these words' },
});

/** @returns {string} */
export function usage() {
  const lines = Object.entries(FLAGS).map(([name, flag]) => {
    const typed = `--${name}${'takes' in flag ? ` ${flag.takes}` : ''}`;
    return `  ${typed.padEnd(15)} ${flag.words}`;
  });
  return [
    'npm run bench:waste -- [flags]',
    '',
    'What Bursar says against what the demo knows to be true: every world of worlds.mjs, two new seeds each.',
    '',
    ...lines,
  ].join('\n');
}

/** What was typed, or what is wrong with it. @param {readonly string[]} args @returns {{ flags: Flags } | { trouble: string }} */
export function readFlags(args) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: FLAGS });
    const [place] = positionals;
    const flags = { ...values, ...(place !== undefined && { place }) };
    const trouble = troubleOf(flags, positionals.length);
    return trouble === undefined ? { flags } : { trouble };
  } catch (failure) {
    return { trouble: failure instanceof Error ? failure.message : String(failure) };
  }
}

/** @param {Flags} flags @param {number} places @returns {string | undefined} */
function troubleOf({ seeds, world, only, step, data, gpus, days, scale, place }, places) {
  if (places > (scale ? 1 : 0)) return `"${place}" belongs to no flag`;
  for (const [name, value] of Object.entries({ gpus, days })) {
    if (!/^[1-9]\d*$/.test(value)) return `--${name} is a whole number, not "${value}"`;
  }
  if (seeds !== undefined && !/^\d+(,\d+)*$/.test(seeds))
    return `--seeds are whole numbers with commas, not "${seeds}"`;
  if (!/^\d+[smh]$/.test(step)) return `--step is a length as 5m, not "${step}"`;
  if (world !== undefined && only !== '') return '--world and --only are two ways to say which worlds';
  if (world !== undefined && !existsSync(world)) return `--world: no file "${world}"`;
  if (data !== undefined && !existsSync(data)) return `--data: no folder "${data}"`;
  if (WORLDS.some(({ name }) => name.includes(only))) return undefined;
  return `no world has "${only}" in its name; there are ${WORLDS.map(({ name }) => name).join(', ')}`;
}

/** The command that makes the same demos again: all that decides of them, and their seeds. @param {Flags} flags @param {readonly string[]} seeds @returns {string} */
export function repeating(flags, seeds) {
  const said = Object.entries(FLAGS).flatMap(([name, flag]) => {
    const value = flags[/** @type {keyof typeof FLAGS} */ (name)];
    if (!('isRepeated' in flag) || value === undefined || ('default' in flag && value === flag.default)) return [];
    return value === true ? [`--${name}`] : [`--${name}`, word(String(value))];
  });
  const all = seeds.length === 0 ? said : [...said, '--seeds', seeds.join(',')];
  return ['npm run bench:waste', ...(all.length === 0 ? [] : ['--', ...all])].join(' ');
}

/** As a shell takes it for one word. @param {string} text */
const word = (text) => (/^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
