import { useAddress } from '../address.ts';
import { useAnswer } from '../ask.ts';
import { day } from '../figures.ts';
import { Banner } from '../parts/banner.tsx';
import type { StatusReply } from '../../../src/api/routes/sources/status.ts';

/** Pages of months and of sources, which are never seen as at another moment. */
const AS_NOW = /^\/(?:teams|unattributed|sources)(?:\/|$)/;

/** Over every page, also on a phone and on paper: what its figures are of, where that is not a real fleet as it is now. */
export function PageMarks() {
  const { path, words, change } = useAddress();
  const isDemo = useAnswer<StatusReply>('/status').data?.data.isDemo === true;
  const asked = Date.parse(words['asOf'] ?? '');
  const isAsked = !Number.isNaN(asked);
  const moment = isAsked
    ? `${day(asked)} ${new Date(asked).toISOString().replace(/^(\d+)-.*T(\d\d:\d\d).*$/, '$1, $2')} UTC`
    : '';
  return (
    <>
      {isDemo ? (
        <Banner kind="warn" className="made-up">
          DEMO: a made-up fleet{isAsked ? '' : ', seen as at its end'}.
        </Banner>
      ) : null}
      {isAsked ? (
        <Banner kind="warn" action={{ words: 'see the newest', run: () => change({ asOf: undefined }) }}>
          {AS_NOW.test(path)
            ? `This page is as it is now, and not as of ${moment}.`
            : `As of ${moment}: what came later is left out.`}
        </Banner>
      ) : null}
    </>
  );
}
