import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import { day, percent, usd } from '../../figures.ts';
import { StateMark } from '../../parts/marks.tsx';
import type { State } from '../../parts/marks.tsx';
import { rateWords } from './sentence.ts';
import type { OverviewReply } from '../../../../src/api/routes/overview/overview.ts';
import type { RunawayReply } from '../../../../src/api/routes/findings/runaway.ts';

/** What the sentence rests on, one line: books, sources, owners, jobs that run away. */
export function Checks({ reply }: { readonly reply: OverviewReply }) {
  const { to } = useAddress();
  const stateOf = (name: string): State => reply.verdict.inputs.find((input) => input.name === name)?.state ?? 'none';
  const wordsOf = (name: string): string => reply.verdict.inputs.find((input) => input.name === name)?.words ?? '';
  return (
    <ul className="checks">
      <Check state={stateOf('books')}>{booksWords(reply)}</Check>
      <Check state={stateOf('sources')}>
        <Link className="quiet" href={to('/sources')}>
          {wordsOf('sources')}
        </Link>
      </Check>
      {reply.team === null ? (
        <Check state={stateOf('unattributed')}>
          <Link className="quiet" href={to('/spend', { by: 'team' })}>
            Unattributed {percent(reply.unattributedPermille)}
            {reply.before.sum === undefined ? '' : `, was ${percent(reply.before.sum.unattributedPermille)}`}
          </Link>
        </Check>
      ) : null}
      {['unknown', 'unpriced'].map((name) =>
        ['warn', 'bad'].includes(stateOf(name)) ? (
          <Check key={name} state={stateOf(name)}>
            {wordsOf(name)}
          </Check>
        ) : null,
      )}
      {reply.team === null ? <Runaways /> : null}
    </ul>
  );
}

function Check({ state, children }: { readonly state: State; readonly children: ReactNode }) {
  return (
    <li>
      <StateMark state={state} />
      <span>{children}</span>
    </li>
  );
}

function booksWords({ books, steps, verdict }: OverviewReply): string {
  const words = verdict.inputs.find(({ name }) => name === 'books')?.words ?? '';
  const estimated = steps.filter(({ isEstimated }) => isEstimated);
  const [first, last] = [estimated[0], estimated.at(-1)];
  const until = books.billedUntil === null ? '' : ` to ${day(Date.parse(books.billedUntil) - 1)}`;
  const equal = books.differenceUsdMicros === '0' ? `${words}${until}, difference $0.00` : words;
  const differs =
    books.differenceUsdMicros === null || books.differenceUsdMicros === '0'
      ? ''
      : ` by ${usd(books.differenceUsdMicros)}`;
  if (first === undefined || last === undefined) return `${equal}${differs}`;
  const days = first === last ? day(first.from) : `${day(first.from)} – ${day(last.from)}`;
  return `${equal}${differs}; ${days} estimated`;
}

/** Asked by itself: it looks at every running job, and the page does not wait for it. */
function Runaways() {
  const { to } = useAddress();
  const { data } = useAnswer<RunawayReply>('/runaway');
  if (data === undefined) return null;
  const { runaways } = data.data;
  if (runaways.length === 0) return <Check state="good">No runaway job</Check>;
  const [only] = runaways;
  const href =
    runaways.length === 1 && only !== undefined ? to(`/jobs/${encodeURIComponent(only.allocationId)}`) : to('/jobs');
  return (
    <Check state="warn">
      <Link className="quiet" href={href}>
        {runaways.length} runaway {runaways.length === 1 ? 'job' : 'jobs'}, {rateWords(runaways)}
      </Link>
    </Check>
  );
}
