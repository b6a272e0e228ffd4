import { SPEND_DAY_DIMENSIONS } from '../../ledger/spend-day.ts';
import type { View } from '../../lake/ask.ts';
import { ownedSpendSql, OWNER_COLUMNS } from './owned-spend.ts';
import { ownerPeriods, ownersUnsplitSql } from './owners-sql.ts';
import type { RuleBook } from './rule.ts';

const OWNED_SPEND_COLUMNS = [...OWNER_COLUMNS, ...SPEND_DAY_DIMENSIONS];

/** Tables that are not kept but said when asked, by the rules in force. */
export function ruleViews(book: RuleBook): readonly View[] {
  const { profiles, keep, joinSql } = ownerPeriods(book);
  return [
    {
      name: 'known_profile',
      of: ['profile'],
      since: (day) => `${day.slice(0, 7)}-01`,
      // What a profile says never changes. Where it is listed first is found by two columns; of most files no other is opened.
      sql: (profile) => `
        WITH listed AS NOT MATERIALIZED (${profile})
        SELECT l.* FROM listed l JOIN (SELECT profile_no, min(day) AS day FROM listed GROUP BY profile_no) f
          ON l.profile_no = f.profile_no AND l.day = f.day`,
    },
    {
      name: 'ownership',
      of: ['subject', 'known_profile'],
      sql: (subject, profile = '') => `
        SELECT s.day, s.subject, s.profile_no, s.workload_name, o.team, o.project, o.user_name, o.environment, o.class, o.rule
        FROM (${subject}) s LEFT JOIN (${ownersUnsplitSql(book, profiles(profile), keep)}) o ON ${joinSql('s', 'o')}`,
    },
    {
      name: 'owned_spend_day',
      of: ['spend_day', 'known_profile'],
      sql: (spend = '', profile = '') => ownedSpendSql(book, { spend, profile, columns: OWNED_SPEND_COLUMNS }),
    },
  ];
}
