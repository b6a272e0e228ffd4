import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, subjectOf, type ToldHolder } from '../../test/holder-rows.ts';
import { safeText } from '../report/safe-text.ts';
import { unlistedMachines } from './unlisted-machines.ts';
import { untaggedSpend } from './untagged-spend.ts';

const job = (id: string, hours: number, user: string): ToldHolder => ({
  id,
  user,
  namespace: 'default',
  from: '03-03 00:00',
  until: `03-03 ${String(hours).padStart(2, '0')}:00`,
  gpus: { [`g${id}`]: {} },
});
const owned = (holder: ToldHolder, team: string | null, rule: string | null = null) => ({
  day: '2026-03-03',
  subject: subjectOf(holder),
  team,
  user_name: holder.user ?? null,
  rule,
});

const [mine, other, nobodys] = [job('1', 12, 'mchen'), job('2', 6, 'mchen'), job('3', 6, 'kim: x')];

describe('untagged-spend', () => {
  it.each(['x\u009b", set: {team: mine}}} #', 'x\u001b]0;', 'x\ny', 'x\u202ey', 'x\u{e0001}y'])(
    'the name %j stays a name in the rule that is pasted from a screen',
    async (user) => {
      const holder = job('1', 12, user);
      const tables = { ...holderRows([holder]), ownership: [owned(holder, null)] };
      const [claim] = await claimsOn(untaggedSpend, tables);
      const lines = claim?.fix.slice(claim.fix.indexOf('rules:')).map(safeText) ?? [];
      expect(parse(lines.join('\n'))).toEqual({ rules: [{ when: { user }, set: { team: 'TEAM' } }] });
    },
  );

  it('says nothing where all but a hundredth has a team, nor of what is shared', async () => {
    const rows = holderRows([mine, other]);
    const all = { ...rows, ownership: [owned(mine, 'nlp'), owned(other, 'nlp')] };
    expect(await claimsOn(untaggedSpend, all)).toEqual([]);
    const shared = { ...rows, ownership: [owned(mine, 'nlp'), owned(other, null, 'shared tools, split by day')] };
    expect(await claimsOn(untaggedSpend, shared)).toEqual([]);
  });

  it('asks about the rest, with a rule that can be pasted for each part of it', async () => {
    const ownership = [owned(mine, 'nlp'), owned(other, null), owned(nobodys, null)];
    const claims = await claimsOn(untaggedSpend, { ...holderRows([mine, other, nobodys]), ownership });
    expect(claims.map(({ what, isQuestion, takes }) => ({ what, isQuestion, takes }))).toEqual([
      { what: '50 % of the held GPU time has no team', isQuestion: true, takes: [] },
    ]);
    // The rows of every job cost a dollar.
    expect(claims[0]?.because.slice(0, 2)).toEqual([
      '$2.00 of $3.00 that held GPUs cost; 12 of 24 GPU-hours, in 2 groups.',
      '$1.00, 25 %: user kim: x in namespace default, 1 job.',
    ]);
    const yaml = claims[0]?.fix.slice(claims[0].fix.indexOf('rules:')).join('\n') ?? '';
    expect(parse(yaml)).toEqual({
      rules: [
        { when: { user: 'kim: x' }, set: { team: 'TEAM' } },
        { when: { user: 'mchen' }, set: { team: 'nlp' } },
      ],
    });
  });
});

describe('unlisted-machines', () => {
  const charge = (id: string, category = 'unknown') => ({
    day: '2026-03-03',
    subject: `resource ${id}`,
    category,
    provider: 'AWS',
    usd_micros: 5,
  });

  it('says nothing of charges that are no GPU machine, nor of unknown time of machines that are known', async () => {
    const rows = [charge('bucket', 'beside'), { ...charge('x'), subject: 'job slurm/1/0', device_id: 'g0' }];
    expect(await claimsOn(unlistedMachines, { subject_day: rows })).toEqual([]);
  });

  it('names the machines of a provider together, with the command that looks at them', async () => {
    const [claim, ...others] = await claimsOn(unlistedMachines, { subject_day: [charge('i-1'), charge('i-2')] });
    expect(others).toEqual([]);
    expect(claim?.what).toBe('2 GPU machines on the bill of AWS that no inventory knows');
    expect(claim?.fix[0]).toBe('aws ec2 describe-instances --instance-ids i-1 i-2');
    expect(claim?.takes.map(({ subject, category }) => `${subject} ${category}`)).toEqual([
      'resource i-1 unknown',
      'resource i-2 unknown',
    ]);
  });
});
