import { Link } from 'wouter';
import { useAddress } from '../address.ts';
import { useAnswer } from '../ask.ts';
import { minute } from '../figures.ts';
import { Banner } from '../parts/banner.tsx';
import type { StatusReply } from '../../../src/api/routes/sources/status.ts';

/** Over every page while a source is silent: what is shown is the last good data, and what came since is unknown. */
export function StaleSources() {
  const { path, to } = useAddress();
  const status = useAnswer<StatusReply>('/status').data?.data;
  if (status === undefined || path === '/sources') return null;
  const { wrong, attention, total, silentSince } = status.sources;
  const silent = wrong + attention;
  if (silent === 0) return null;
  return (
    <Banner kind="warn">
      {silent} of {total} sources {silent === 1 ? 'is' : 'are'} silent
      {silentSince === null ? '' : ` since ${minute(silentSince)} UTC`}. What they would have told is unknown, and shown
      so. <Link href={to('/sources')}>see sources</Link>
    </Banner>
  );
}
