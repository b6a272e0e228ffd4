import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAddress } from '../address.ts';
import { StateMark } from '../parts/marks.tsx';
import { Loading } from '../parts/section.tsx';
import { Head } from './head.tsx';
import { useSeesFleet, useSession } from './session.ts';

interface WholeFleetProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** A page about the whole fleet. A viewer of one team is told that it is not theirs to see, and what is. */
export function WholeFleet({ title, children }: WholeFleetProps) {
  const seesFleet = useSeesFleet();
  if (seesFleet === true) return children;
  return (
    <>
      <Head title={title} />
      <main id="main" className="content" aria-busy={seesFleet === undefined}>
        {seesFleet === undefined ? <Loading /> : <NotYours title={title} />}
      </main>
    </>
  );
}

function NotYours({ title }: { readonly title: string }) {
  const { to } = useAddress();
  const session = useSession();
  const team = session?.team ?? '';
  return (
    <div className="not-yours">
      <p className="verdict">
        <StateMark state="none" /> {title} is about the whole fleet, and not yours to see.
      </p>
      <p className="note">
        {session?.name} sees the team {team} and the fleet’s totals:{' '}
        <Link href={to(`/teams/${encodeURIComponent(team)}`)}>what {team} paid</Link>,{' '}
        <Link href={to('/jobs')}>its jobs</Link>, <Link href={to('/findings')}>what it could do</Link>. Whoever runs
        Bursar makes a token without --team.
      </p>
    </div>
  );
}
