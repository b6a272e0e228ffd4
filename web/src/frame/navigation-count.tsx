import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { useAnswer } from '../ask.ts';
import type { Answer } from '../ask.ts';
import { StateMark } from '../parts/marks.tsx';
import type { FindingsReply } from '../../../src/api/routes/findings/list-findings.ts';
import type { FirstFindingsReply } from '../../../src/api/routes/overview/overview-findings.ts';
import type { StatusReply } from '../../../src/api/routes/sources/status.ts';
import { isToDo } from '../pages/findings/finding-words.ts';

/** What stands beside a page's name: sources that are wrong, findings that wait. */
export function NavigationCount({ page }: { readonly page: string }) {
  if (page === 'Sources') return <SourcesCount />;
  return page === 'Findings' ? <FindingsCount /> : null;
}

function SourcesCount() {
  const sources = useAnswer<StatusReply>('/status').data?.data.sources;
  const silent = sources === undefined ? 0 : sources.wrong + sources.attention;
  if (sources === undefined || silent === 0) return null;
  return (
    <span className={sources.wrong > 0 ? 'count alert' : 'count'}>
      <StateMark state={sources.wrong > 0 ? 'bad' : 'warn'} /> {silent}
    </span>
  );
}

const LISTED = '/api/v1/findings?small=no&window=30d';
const FIRST = '/api/v1/overview/findings?window=30d';

/** Findings take a moment to find: the count shows once some page has asked for them, and asks for nothing itself. */
function FindingsCount() {
  const client = useQueryClient();
  const listen = useCallback((changed: () => void) => client.getQueryCache().subscribe(changed), [client]);
  const count = useSyncExternalStore(listen, () => {
    const listed = client.getQueryData<Answer<FindingsReply>>(['answer', LISTED])?.data;
    if (listed !== undefined) return listed.findings.filter(isToDo).length;
    return client.getQueryData<Answer<FirstFindingsReply>>(['answer', FIRST])?.data.count;
  });
  return count === undefined ? null : (
    <span className="count" title="to do in 30 days, without the small ones">
      {count}
    </span>
  );
}
