import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { copyText } from '../copy.ts';
import { useAddress } from '../address.ts';
import { useAnswer } from '../ask.ts';
import { PAGES } from '../pages.ts';
import { Hatches } from '../charts/hatches.tsx';
import { CopyNote } from './copy-note.tsx';
import { FootKeys } from './foot-keys.tsx';
import { useKeys } from './keys.ts';
import { Navigation } from './navigation.tsx';
import { NoData } from './no-data.tsx';
import { PageMarks } from './page-marks.tsx';
import { ServerGone } from './server-gone.tsx';
import { StaleSources } from './stale-sources.tsx';
import { useLiveLedger } from './live-ledger.ts';
import type { StatusReply } from '../../../src/api/routes/sources/status.ts';

/** What stands around every page: navigation, keys, news from the server. */
export function Frame({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <Hatches />
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Around>{children}</Around>
    </>
  );
}

function Around({ children }: { readonly children: ReactNode }) {
  const address = useAddress();
  const [, navigate] = useLocation();
  const live = useLiveLedger();
  const { error } = useAnswer<StatusReply>('/status');
  useKeys([
    ...PAGES.map(({ name, letter, paths }) => ({
      key: `g ${letter}`,
      words: name,
      run: () => navigate(address.to(paths[0] ?? '/')),
    })),
    { key: 'y', words: 'copy link', run: () => void copyText(location.href) },
  ]);
  return (
    <div className="frame">
      <Navigation />
      <div className="page">
        <FromTheTop key={address.path} />
        <ServerGone live={live} />
        <StaleSources />
        <PageMarks />
        {error?.hasNoData === true ? <NoData problem={error} /> : children}
        <CopyNote />
        <FootKeys />
      </div>
    </div>
  );
}

/** Another page is read from its top. */
function FromTheTop() {
  // Braces: newer browsers return a promise from it, which an effect would take for its clean-up.
  useEffect(() => {
    window.scrollTo(0, 0);
  }, []);
  return null;
}
