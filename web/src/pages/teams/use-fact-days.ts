import { useAnswer } from '../../ask.ts';
import { factDays } from '../../figures.ts';
import type { OverviewReply } from '../../../../src/api/routes/overview/overview.ts';
import type { StatementReply } from '../../../../src/api/routes/teams/team-statement.ts';

type Stated = Pick<StatementReply, 'month' | 'status' | 'window'>;

/**
 * `30 of 31 days` of a month that is not whole, as `bursar statement` says it; null of a whole one, and of one that is closed: that stands
 * as it was issued. The answers about statements do not have it, the one about the same days of the whole ledger has.
 */
export function useFactDays(stated: Stated | undefined): string | null {
  const isOpen = stated !== undefined && stated.status !== 'closed';
  const { data, isPlaceholderData } = useAnswer<OverviewReply>(
    '/overview',
    { window: stated?.month },
    { enabled: isOpen },
  );
  return !isOpen || data === undefined || isPlaceholderData
    ? null
    : factDays(stated.window, data.data.window.ledgerDays);
}
