import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slowOwners } from '../../../test/rules/slow-owners.ts';
import type { PlainProfile } from '../../../test/rules/slow-owners.ts';
import { ruleEngine, sqlOwners } from '../../../test/rules/sql-owners.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { INTERACTIVE_KINDS, SERVING_KINDS } from '../../facts/workload-manner.ts';
import type { Engine } from '../../lake/engine.ts';
import { readConfig } from '../config/config-file.ts';
import type { RuleBook } from './rule.ts';
import { NO_RULES } from './rule.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await ruleEngine();
});
afterAll(() => engine.close());

function bookOf(yaml: string): RuleBook {
  return readConfig(yaml).rules ?? NO_RULES;
}

interface Asked {
  readonly day?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
  readonly [column: string]: string | Readonly<Record<string, string>> | undefined;
}

function profileOf({ day = '2026-10-15', labels = {}, tags = {}, ...columns }: Asked): PlainProfile {
  return { day, labels, tags, columns: { what: 'job', ...columns } };
}

describe('a rule finds what it looks for', () => {
  const cases: Readonly<Record<string, { when: string; meets: readonly Asked[]; misses: readonly Asked[] }>> = {
    'a plain text is the whole of it': {
      when: '{namespace: nlp}',
      meets: [{ namespace: 'nlp' }],
      misses: [{ namespace: 'nlp-2' }, { namespace: 'NLP' }, {}, { account: 'nlp' }],
    },
    'a star is any text, a question mark one letter': {
      when: "{namespace: 'nlp-?*'}",
      meets: [{ namespace: 'nlp-a' }, { namespace: 'nlp-é\nx' }],
      misses: [{ namespace: 'nlp-' }, { namespace: 'xnlp-a' }],
    },
    'signs that mean something in SQL or in a regex are only themselves': {
      when: '{name: "50%_a.b[c]*"}',
      meets: [{ workload_stem: '50%_a.b[c]' }, { workload_stem: '50%_a.b[c] or more' }],
      misses: [{ workload_stem: '50x_a.b[c]' }, { workload_stem: '50%xa.b[c]' }, { workload_stem: '50%_axb[c]' }],
    },
    'a quote does not end anything': {
      when: `{user: "o'hara; DROP TABLE profile --"}`,
      meets: [{ user_name: "o'hara; DROP TABLE profile --" }],
      misses: [{ user_name: 'o' }],
    },
    'a regex searches': {
      when: "{user: '/(?i)BOT$/'}",
      meets: [{ user_name: 'ci-bot' }],
      misses: [{ user_name: 'botany' }],
    },
    'a list is any of': {
      when: '{label.app: [a, b*]}',
      meets: [{ labels: { app: 'a' } }, { labels: { app: 'bc' } }],
      misses: [{ labels: { app: 'c' } }, { labels: { other: 'a' } }, {}],
    },
    'an exclamation mark is none of, also for what is not there': {
      when: "{namespace: ['!kube-*', '!default']}",
      meets: [{ namespace: 'nlp' }, {}],
      misses: [{ namespace: 'kube-system' }, { namespace: 'default' }],
    },
    'with others, any of those and none of these': {
      when: "{namespace: ['team-*', '!team-x']}",
      meets: [{ namespace: 'team-a' }],
      misses: [{ namespace: 'team-x' }, { namespace: 'other' }, {}],
    },
    'an empty text is what is not there': {
      when: "{label.team: '', what: job}",
      meets: [{}, { labels: { team: '' } }],
      misses: [{ labels: { team: 'nlp' } }],
    },
    'a star alone is whatever is there': {
      when: "{label.team: '*'}",
      meets: [{ labels: { team: 'x' } }],
      misses: [{}, { labels: { team: '' } }],
    },
    'all of them must match': {
      when: '{namespace: a, user: b}',
      meets: [{ namespace: 'a', user_name: 'b' }],
      misses: [{ namespace: 'a' }, { user_name: 'b' }],
    },
    'keys with dots and slashes': {
      when: '{label.app.kubernetes.io/name: web}',
      meets: [{ labels: { 'app.kubernetes.io/name': 'web' } }],
      misses: [{ labels: { app: 'web' } }],
    },
    'tags of machines and resources': {
      when: '{tag.CostCenter: "4711"}',
      meets: [{ what: 'node', tags: { CostCenter: '4711' } }],
      misses: [{ what: 'node', labels: { CostCenter: '4711' } }],
    },
    'a megabyte': {
      when: `{user: '/^(a+)+$/'}`,
      meets: [{ user_name: 'a'.repeat(1_000_000) }],
      misses: [{ user_name: `${'a'.repeat(1_000_000)}!` }],
    },
  };
  test.each(Object.entries(cases))('%s', async (_, { when, meets, misses }) => {
    const book = bookOf(`rules:\n  - when: ${when}\n    set: {team: CAUGHT}\n`);
    const got = await sqlOwners(engine, book, [...meets, ...misses].map(profileOf));
    expect(got.map(({ team }) => team === 'CAUGHT')).toEqual([...meets.map(() => true), ...misses.map(() => false)]);
  });
});

describe('a class without a label', () => {
  test.each([
    ...SERVING_KINDS.map((kind) => ({ kind, want: 'inference' })),
    ...INTERACTIVE_KINDS.map((kind) => ({ kind, want: 'experimentation' })),
  ])('of a $kind is $want, as its manner is', async ({ kind, want }) => {
    const [told] = await sqlOwners(engine, NO_RULES, [profileOf({ workload_kind: kind })]);
    expect(told?.class).toBe(want);
  });
});

describe('what is said', () => {
  const cases: Readonly<Record<string, { yaml: string; asked: Asked; want: Readonly<Record<string, string | null>> }>> =
    {
      'without rules, labels before account before namespace': {
        yaml: 'rules: []',
        asked: { labels: { project: 'p' }, account: 'a', namespace: 'n', workload_kind: 'Notebook', user_name: 'u' },
        want: { team: 'a', project: 'p', class: 'experimentation', user: 'u', rule: 'account' },
      },
      'a label that is there and empty names nobody': {
        yaml: 'rules: []',
        asked: { labels: { team: '', project: '', class: '' }, tags: { team: '', project: 'p' }, account: '' },
        want: { team: null, project: 'p', class: null, rule: 'none' },
      },
      'the first rule wins, for each dimension by itself': {
        yaml: `rules:
  - {when: {namespace: a}, set: {class: training}}
  - {when: {namespace: a*}, set: {team: first, class: batch}}
  - {when: {}, set: {team: second, project: rest}}`,
        asked: { namespace: 'a' },
        want: { team: 'first', project: 'rest', class: 'training', rule: 'rule 2: namespace a*' },
      },
      'a value takes what the job says, and groups of the first regex': {
        yaml: `rules: [{when: {user: '/^svc-(.+?)-(.+)$/'}, set: {team: '{1}', project: '{label.app}/{2}', environment: prod}}]`,
        asked: { user_name: 'svc-nlp-chat', labels: { app: "it's {x}" } },
        want: { team: 'nlp', project: "it's {x}/chat", environment: 'prod' },
      },
      'a value that is not there leaves it to later rules': {
        yaml: `rules:
  - {when: {}, set: {team: '{label.squad}'}}
  - {when: {namespace: n}, set: {team: rest}}`,
        asked: { namespace: 'n' },
        want: { team: 'rest', rule: 'rule 2: namespace n' },
      },
      'none is nobody, and later rules do not change it': {
        yaml: `rules:
  - {when: {namespace: n}, set: {team: none}, name: sandboxes}
  - {when: {}, set: {team: rest}}`,
        asked: { namespace: 'n' },
        want: { team: null, rule: 'rule 1: sandboxes' },
      },
      'before its day a rule says nothing': {
        yaml: `rules: [{when: {namespace: n}, from: 2026-10-16, set: {team: new}}]`,
        asked: { namespace: 'n', day: '2026-10-15' },
        want: { team: 'n' },
      },
      'on it, and until another, it does': {
        yaml: `rules: [{when: {namespace: n}, from: 2026-10-15, until: 2026-10-16, set: {team: new}}]`,
        asked: { namespace: 'n', day: '2026-10-15' },
        want: { team: 'new' },
      },
      'aliases come last, and follow each other': {
        yaml: `aliases: {team: {NLP Research: nlp-old, nlp-old: nlp}, user: {mchen: mei}}`,
        asked: { account: 'NLP Research', user_name: 'mchen' },
        want: { team: 'nlp', user: 'mei', rule: 'account' },
      },
      'an alias from a day on does not rename the days before': {
        yaml: `aliases: {team: {a: {to: b, from: 2026-11-01}, b: c}}`,
        asked: { account: 'a', day: '2026-10-31' },
        want: { team: 'a' },
      },
      'and from that day on follows the others': {
        yaml: `aliases: {team: {a: {to: b, from: 2026-11-01}, b: c}}`,
        asked: { account: 'a', day: '2026-11-01' },
        want: { team: 'c' },
      },
      'a pool is named': {
        yaml: `shared: [{name: "it's shared", when: {state: spare}, split: even}]`,
        asked: { what: 'node', state: 'spare' },
        want: { pool: "it's shared" },
      },
    };
  test.each(Object.entries(cases))('%s', async (_, { yaml, asked, want }) => {
    const [got] = await sqlOwners(engine, bookOf(yaml), [profileOf(asked)]);
    expect(got).toMatchObject(want);
  });
});

test('whatever the rules and the profiles, SQL says what one rule after the other says', async () => {
  const word = fc.constantFrom('a', 'b', 'ab', 'a-b', "a'b", '', 'é', 'a\nb', '{1}', '%', 'A');
  const pattern = fc.constantFrom(
    'a',
    'ab',
    '*',
    'a*',
    '*b',
    '?',
    'a?b',
    '',
    '!a',
    '!*',
    '/^a(.*)$/',
    '/(?i)A/',
    '!/b$/',
    '/(x)?a/',
    "a'b",
    '%',
  );
  const attribute = fc.constantFrom('namespace', 'account', 'user', 'kind', 'label.app', 'label.team', 'cluster');
  const when = fc.dictionary(attribute, fc.oneof(pattern, fc.array(pattern, { minLength: 1, maxLength: 3 })), {
    maxKeys: 3,
  });
  const value = fc.constantFrom('t1', 't2', 'none', '{namespace}', 'x-{label.app}', '{user}{account}', '{1}');
  const day = fc.constantFrom('2026-10-01', '2026-10-02', '2026-10-03');
  const rule = fc.record(
    { when, set: fc.record({ team: value, class: value }, { requiredKeys: [] }), from: day },
    { requiredKeys: ['when', 'set'] },
  );
  const shared = fc.record({ name: fc.constantFrom('p', 'q'), when, split: fc.constant('even') });
  const renames = fc.constantFrom({}, { t1: 't2' }, { t1: { to: 'z', from: '2026-10-02' }, z: 'y' });
  const profile = fc.record({
    day,
    columns: fc.record(
      {
        what: fc.constant('job'),
        namespace: word,
        account: word,
        user_name: word,
        workload_kind: fc.constantFrom('Notebook', 'Job'),
        cluster: word,
      },
      { requiredKeys: ['what'] },
    ),
    labels: fc.dictionary(fc.constantFrom('app', 'team', 'x'), word),
    tags: fc.constant({}),
  });
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { maxLength: 4 }),
      fc.array(shared, { maxLength: 2 }),
      renames,
      fc.array(profile, { minLength: 8, maxLength: 8 }),
      async (rules, pools, team, profiles) => {
        const book = possibleBook({ rules, shared: pools, aliases: { team } });
        fc.pre(book !== undefined);
        const fast = await sqlOwners(engine, book, profiles);
        const slow = profiles.map((each) => slowOwners(book, each));
        expect(fast.map((each, place) => ({ ...slow[place], rule: each.rule }))).toEqual(fast);
        compared += 1;
      },
    ),
    { numRuns: 150 },
  );
  expect(compared).toBeGreaterThan(100);
}, 60_000);

/** Undefined where the check refuses it. */
function possibleBook(config: object): RuleBook | undefined {
  try {
    return bookOf(JSON.stringify(config));
  } catch (failure) {
    if (failure instanceof OperationError) return undefined;
    throw failure;
  }
}
