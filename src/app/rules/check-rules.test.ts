import { describe, expect, test } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { readConfig } from '../config/config-file.ts';

function problemsOf(text: string): string {
  try {
    readConfig(text);
  } catch (failure) {
    if (failure instanceof OperationError) return failure.message;
    throw failure;
  }
  return 'fine';
}

const rules = (...lines: readonly string[]): string => `rules:\n${lines.map((line) => `  - ${line}\n`).join('')}`;

describe('what is wrong with rules is told with line and column', () => {
  const cases: Readonly<Record<string, { yaml: string; want: readonly string[] }>> = {
    'an attribute nobody knows': {
      yaml: rules('{when: {namespce: a}, set: {team: x}}'),
      want: ['2:13', 'namespce: is nothing a rule can look at; nearest: namespace'],
    },
    'a label without its key': { yaml: rules('{when: {label.: a}, set: {team: x}}'), want: ['2:13', 'label.'] },
    'a label that differs for every job': {
      yaml: rules('{when: {label.pod-template-hash: "*"}, set: {team: x}}'),
      want: ['2:13', 'can never match: this label differs for every job'],
    },
    'a regex that is none': {
      yaml: rules("{when: {user: '/(a/'}, set: {team: x}}"),
      want: ['2:19', 'is no regular expression (RE2)', 'missing closing )'],
    },
    'a regex that only others have': {
      yaml: rules("{when: {user: '/(?=a)/'}, set: {team: x}}"),
      want: ['2:19', 'is no regular expression (RE2)'],
    },
    'the third of a list': {
      yaml: rules("{when: {user: [a, b, '/[/']}, set: {team: x}}"),
      want: ['2:26', 'is no regular expression'],
    },
    'a number where a text belongs': {
      yaml: rules('{when: {cloud_account: 123456789012}, set: {team: x}}'),
      want: ['2:28', 'text'],
    },
    'nothing is set': { yaml: rules('{when: {user: a}, set: {}}'), want: ['2:28', 'must set one of team'] },
    'a dimension nobody knows': {
      yaml: rules('{when: {user: a}, set: {teem: x}}'),
      want: ['2:29', 'is not known here; nearest: team'],
    },
    'no days between from and until': {
      yaml: rules('{when: {user: a}, from: 2026-10-02, until: 2026-10-02, set: {team: x}}'),
      want: ['2:48', 'can never match: must be after from, 2026-10-02'],
    },
    'a day that is none': {
      yaml: rules('{when: {user: a}, from: 2026-02-30, set: {team: x}}'),
      want: ['2:29', 'rules[0].from'],
    },
    'what is asked for is excluded': {
      yaml: rules("{when: {user: [abc, '!a*']}, set: {team: x}}"),
      want: ['2:19', 'can never match: what it asks for is excluded by a !'],
    },
    'nothing has both': {
      yaml: rules('{when: {namespace: a, state: spare}, set: {team: x}}'),
      want: ['2:27', 'state: can never match: nothing has it together with namespace'],
    },
    'a kind of subject that is none': {
      yaml: rules('{when: {what: jobs}, set: {team: x}}'),
      want: ['2:19', 'can never match', 'nearest: job'],
    },
    'the whole name of one run': {
      yaml: rules('{when: {name: sweep-17}, set: {team: x}}'),
      want: ['2:19', 'can never match', 'write sweep-*'],
    },
    'a value that names nothing': {
      yaml: rules('{when: {user: a}, set: {team: "{namespac}"}}'),
      want: ['2:35', '{namespac} is nothing a rule can look at; nearest: namespace'],
    },
    'a group without a regex': {
      yaml: rules('{when: {user: a}, set: {team: "{1}"}}'),
      want: ['2:35', '{1} needs a /regex/'],
    },
    'a group the regex does not have': {
      yaml: rules("{when: {user: '/^(a)/'}, set: {team: '{2}'}}"),
      want: ['2:42', '{2} is no group of /^(a)/, which has 1'],
    },
    'the same rule again': {
      yaml: rules('{when: {user: a}, set: {team: x}}', '{when: {user: a}, set: {team: y}}'),
      want: ['3:5', 'can never match: rule 1: user a stands before it and takes all of it'],
    },
    'a narrower one after a wider one': {
      yaml: rules(
        "{when: {namespace: 'nlp*'}, set: {team: x}}",
        "{when: {namespace: ['nlp-*', nlp], user: b}, set: {team: y}}",
      ),
      want: ['3:5', 'can never match'],
    },
    'two rules before it take what it sets': {
      yaml: rules(
        '{when: {}, set: {team: x}}',
        '{when: {user: a}, set: {class: batch}}',
        '{when: {user: a}, set: {team: y, class: z}}',
      ),
      want: ['4:5', 'can never match: rule 1: everything and rule 2: user a stands before it'],
    },
    'aliases in a circle': {
      yaml: 'aliases:\n  team:\n    a: b\n    b: {to: c}\n    c: a\n',
      want: ['3:8', 'goes in a circle: a → b → c → a', '4:8', '5:8'],
    },
    'an alias of itself': { yaml: 'aliases: {user: {a: a}}', want: ['1:21', 'goes in a circle: a → a'] },
    'two pools of one name': {
      yaml: 'shared:\n  - {name: p, when: {state: spare}, split: even}\n  - {name: p, when: {what: bill}, split: cost}\n',
      want: ['3:12', 'another pool is called p too'],
    },
    'a key nobody knows': {
      yaml: 'shared: [{name: p, when: {state: spare}, split: hours}]',
      want: ['1:49', 'gpu-hours'],
    },
    'parts that are nothing': {
      yaml: 'shared: [{name: p, when: {state: spare}, split: {a: 0}}]',
      want: ['1:49', 'must give somebody a part above 0'],
    },
    'a pool behind a wider one': {
      yaml: 'shared:\n  - {name: p, when: {what: node}, split: even}\n  - {name: q, when: {what: node, state: spare}, split: cost}\n',
      want: ['3:5', 'can never match: p stands before it'],
    },
  };
  test.each(Object.entries(cases))('%s', (_, { yaml, want }) => {
    const told = problemsOf(yaml);
    for (const part of want) expect(told).toContain(part);
  });
});

describe('what may still match is not refused', () => {
  test.each([
    [
      'a rule that holds on other days',
      rules('{when: {user: a}, from: 2026-10-01, set: {team: x}}', '{when: {user: a}, set: {team: y}}'),
    ],
    ['another dimension', rules('{when: {user: a}, set: {team: x}}', '{when: {user: a}, set: {class: batch}}')],
    [
      'a value that may be missing',
      rules("{when: {}, set: {team: '{label.squad}'}}", '{when: {user: a}, set: {team: y}}'),
    ],
    [
      'a wider one after a narrower one',
      rules('{when: {user: a}, set: {team: x}}', "{when: {user: 'a*'}, set: {team: y}}"),
    ],
    ['an exclusion before', rules("{when: {user: '!a'}, set: {team: x}}", "{when: {user: 'a*'}, set: {team: y}}")],
    ['absence of both', rules("{when: {namespace: '', account: ''}, set: {team: x}}")],
    ['names that lead to one', 'aliases: {team: {a: c, b: c}}'],
  ])('%s', (_, yaml) => expect(problemsOf(yaml)).toBe('fine'));
});
