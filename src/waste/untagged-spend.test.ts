import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldHolder } from '../../test/holder-rows.ts';
import type { Row } from '../../test/stage-on.ts';
import { safeText } from '../report/safe-text.ts';
import { untaggedSpend } from './untagged-spend.ts';

const job = (id: string, hours: number, user: string): ToldHolder => ({
  id,
  user,
  namespace: 'default',
  from: '03-03 00:00',
  until: `03-03 ${String(hours).padStart(2, '0')}:00`,
  gpus: { [`g${id}`]: {} },
});
/** Jobs that are alike in all a rule may ask, and whose they are by which rule. */
interface Profile {
  readonly jobs: readonly ToldHolder[];
  readonly team?: string;
  readonly rule?: string;
}

const tablesOf = (profiles: readonly Profile[]) => {
  const rows = profiles.map(({ jobs }, place) => {
    const { subject, subject_day: paid } = holderRows(jobs);
    const numbered = (row: Row): Row => ({ ...row, profile_no: place });
    return { subject: subject.map(numbered), paid: paid.map(numbered) };
  });
  return {
    ownership: rows.flatMap(({ subject }, place) =>
      subject.map((row) => ({ ...row, team: profiles[place]?.team ?? null, rule: profiles[place]?.rule ?? null })),
    ),
    known_profile: rows.flatMap(({ subject }) => subject.slice(0, 1)),
    spend_day: rows.flatMap(({ paid }) => paid),
  };
};

const [mine, other, nobodys] = [job('1', 12, 'mchen'), job('2', 6, 'mchen'), job('3', 6, 'kim: x')];

describe('untagged-spend', () => {
  it.each(['x\u009b", set: {team: mine}}} #', 'x\u001b]0;', 'x\ny', 'x\u202ey', 'x\u{e0001}y'])(
    'the name %j stays a name in the rule that is pasted from a screen',
    async (user) => {
      const [claim] = await claimsOn(untaggedSpend, tablesOf([{ jobs: [job('1', 12, user)] }]));
      const lines = claim?.fix.slice(claim.fix.indexOf('rules:')).map(safeText) ?? [];
      expect(parse(lines.join('\n'))).toEqual({ rules: [{ when: { user }, set: { team: 'TEAM' } }] });
    },
  );

  it.each([
    { name: 'where all but a hundredth has a team', rest: { team: 'nlp' } },
    { name: 'of what is shared', rest: { rule: 'shared tools, split by day' } },
  ])('says nothing $name', async ({ rest }) => {
    const tables = tablesOf([
      { jobs: [mine], team: 'nlp' },
      { jobs: [other], ...rest },
    ]);
    expect(await claimsOn(untaggedSpend, tables)).toEqual([]);
  });

  it('asks about the rest, with a rule that can be pasted for each part of it', async () => {
    const tables = tablesOf([{ jobs: [mine], team: 'nlp' }, { jobs: [other] }, { jobs: [nobodys] }]);
    const claims = await claimsOn(untaggedSpend, tables);
    expect(claims.map(({ what, isQuestion, takes }) => ({ what, isQuestion, takes }))).toEqual([
      { what: '50 % of the held GPU time has no team', isQuestion: true, takes: [] },
    ]);
    // The rows of every job cost a dollar.
    expect(claims[0]?.because.slice(0, 2)).toEqual([
      '$2.00 of $3.00 that held GPUs cost; 12 of 24 GPU-hours, in 2 groups.',
      '$1.00, 25 % of the time: user kim: x in namespace default, 1 job.',
    ]);
    const yaml = claims[0]?.fix.slice(claims[0].fix.indexOf('rules:')).join('\n') ?? '';
    expect(parse(yaml)).toEqual({
      rules: [
        { when: { user: 'kim: x' }, set: { team: 'TEAM' } },
        { when: { user: 'mchen' }, set: { team: 'nlp' } },
      ],
    });
  });

  it('counts each job once, also one that is there on two days or has a second profile beside it', async () => {
    const long = { ...job('1', 12, 'mchen'), from: '03-02 12:00' };
    const [claim] = await claimsOn(
      untaggedSpend,
      tablesOf([{ jobs: [long, other] }, { jobs: [job('4', 6, 'mchen')] }]),
    );
    expect(claim?.because[1]).toBe('$4.00, 100 % of the time: user mchen in namespace default, 3 jobs.');
  });
});
