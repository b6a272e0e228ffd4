import { describe, expect, it } from 'vitest';
import { extraMatchers, oneOf, quoted, selector } from './selector.ts';

describe('label values are data', () => {
  const cases: Record<string, { got: string | undefined; want: string | undefined }> = {
    'a quote does not end a string': { got: quoted('a"} or vector(1'), want: '"a\\"} or vector(1"' },
    'nor do a backslash and a line break': { got: quoted('a\\"\nb'), want: '"a\\\\\\"\\nb"' },
    'a dot is a dot': { got: oneOf(['a.b', 'c|d', 'e"']), want: '"a\\\\.b|c\\\\|d|e\\""' },
    'a selector': { got: selector('up', 'a="b"', undefined), want: 'up{a="b"}' },
    'of nothing but a name': { got: selector('up', undefined), want: 'up' },
    'extra matchers, in braces or not': { got: extraMatchers(' {cluster="a",} '), want: 'cluster="a"' },
    none: { got: extraMatchers('{}'), want: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { got, want }) => {
    expect(got).toBe(want);
  });
});
