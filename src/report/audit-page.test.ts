import { expect, it } from 'vitest';
import type { Finding } from '../facts/finding.ts';
import { auditMarkdown, auditPage } from './audit-page.ts';
import type { AuditAnswer, AuditItem, AuditWhy } from './audit-page.ts';
import { sumOf } from './finding-answer.ts';

const finding = (number: number, team: string | null, what: string): Finding => ({
  number,
  key: `idle-sessions: ${number}`,
  detector: 'idle-sessions',
  category: 'idle',
  factor: 'utilisation',
  state: 'open',
  exemptUntil: null,
  stateReason: null,
  firstSeenAt: new Date('2026-03-01T00:00:00Z'),
  team,
  user: team === null ? null : 'kim',
  assignedTo: null,
  ownerSubject: null,
  what,
  because: [],
  fix: ['scancel 11'],
  unless: '',
  spark: [],
  basis: 'measured',
  blastRadius: 2,
  blast: '',
  effort: '',
  kind: 'cash',
  usdMicros: 420_000_000n,
  cashUsdMicros: { low: 180_000_000n, high: 420_000_000n },
  capacityUnits: { low: 0n, high: 0n },
  cashIfRentedUsdMicros: 0n,
  gpuUnits: 0n,
  liveSince: null,
  usdMicrosPerHour: null,
  subjects: [],
  firstDay: null,
});
const item = (each: Finding, since: string, why: AuditWhy = 'forgotten'): AuditItem => ({
  finding: each,
  why,
  since: new Date(`${since}T00:00:00Z`),
});
const answer = (items: readonly AuditItem[]): AuditAnswer => ({
  asOf: new Date('2026-03-31T00:00:00Z'),
  asOfBy: 'clock',
  window: {
    asked: '90d',
    from: new Date('2026-01-01T00:00:00Z'),
    until: new Date('2026-04-01T00:00:00Z'),
    ledgerDays: 90,
  },
  items,
  team: undefined,
  younger: 2,
  forgottenDays: 7,
  sum: sumOf(items.map((each) => each.finding)),
  usdMicrosByBasis: new Map([['billed', 1n]]),
  unpricedUnits: 0n,
  knownUnits: 9n,
  heldUnits: 10n,
});

it('begins with count, owners and money, and names owners by the alphabet, the platform last', () => {
  const lines = auditPage(
    answer([
      item(finding(1, null, 'node empty'), '2026-01-02'),
      item(finding(2, 'vision', 'notebook idle'), '2026-01-03'),
      item(finding(3, 'asr', 'box idle'), '2026-01-04', 'exemption-ended'),
    ]),
    120,
  );
  expect(lines[0]).toBe('Audit: 3 forgotten things of 3 owners, last 90 days: cash $540–1,260');
  expect(lines.filter((line) => /^(asr|vision|platform)/.test(line))).toEqual([
    'asr / kim',
    'vision / kim',
    'platform',
  ]);
  expect(lines).toContain('      its exemption has ended');
  expect(lines).toContain('2 more things began less than 7 days ago: bursar findings');
  expect(lines).toContain('Cash: the bill falls once the machines are gone, not with what runs on them.');
});

it('says of how much nobody knows the price', () => {
  const lines = auditPage({ ...answer([]), unpricedUnits: 63_000n * 3600n * 960n }, 120);
  expect(lines[1]).toBe('everything; billed; 960 GPU-hours without a price; 90 % of held GPU time known');
});

it('what to do is what is pasted: options of a job script keep their sign, and lines left out are counted', () => {
  const fix = ['#SBATCH --time=75:00:00', '# and where tasks end alone', 'srun --kill-on-bad-exit'];
  const lines = auditPage(answer([item({ ...finding(4, 'asr', 'job'), fix }, '2026-01-02')]), 120);
  expect(lines.filter((line) => line.startsWith('      ')).map((line) => line.trim())).toEqual([
    'do: #SBATCH --time=75:00:00',
    '# and where tasks end alone',
    '# 1 more line: bursar finding F-4',
  ]);
});

it('is inert where it is pasted, whatever somebody has called a thing', () => {
  const evil = finding(1, '@everyone', '<img src=x> [a](http://b) `x`\u001b[31m');
  const text = auditMarkdown(answer([item({ ...evil, fix: ['scancel `11`'] }, '2026-01-02')]), {
    command: 'bursar audit',
    madeAt: new Date('2026-03-31T00:00:00Z'),
    mark: '',
    dataFlag: '',
  }).join('\n');
  expect(text).toContain(String.raw`\<img src=x\> \[a\](http://b) \`x\``);
  expect(text).toContain(String.raw`### \@everyone / kim`);
  expect(text).toContain("`scancel '11'`");
  expect(text).not.toContain('\u001b');
});

it('a flag of ours stands before the comment of a line that is pasted', () => {
  const fix = [`bursar spend --by model --filter 'team=nlp'  # who rents`];
  const lines = auditPage(answer([item({ ...finding(4, 'asr', 'job'), fix }, '2026-01-02')]), 120, ' --data ./d');
  expect(lines).toContain(`      do: bursar spend --by model --filter 'team=nlp' --data ./d  # who rents`);
});
