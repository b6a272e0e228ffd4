import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { emptyWords, isNothing } from '../../empty-words.ts';
import { hours, leastUsd, minute, percent, usd, usdRange } from '../../figures.ts';
import { keyToFacts, useFactsEnd } from '../../frame/window-move.ts';
import { StateMark } from '../../parts/marks.tsx';
import { Unbroken } from '../../parts/unbroken.tsx';
import type { FindingsReply } from '../../../../src/api/routes/findings/list-findings.ts';
import { countWords, hasCapacity, hasCash, hoursRange, reachOf, reachWith } from './finding-words.ts';
import type { FindingRow, Reach } from './finding-words.ts';
import { chosenWords, NO_FILTER, noneWords } from './none-words.ts';

const SAFEST = 5;

interface SentenceProps {
  readonly findings: readonly FindingRow[];
  /** So many are in the list, to do or not. */
  readonly listed: number;
  readonly reply: FindingsReply;
}

/** What can be saved, by how many things, and what the five safest come to. Cash, capacity and unknown are never added. */
export function FindingsSentence({ findings, listed, reply }: SentenceProps) {
  const { to } = useAddress();
  const days = Math.max(1, reply.window.ledgerDays);
  const count = findings.length + reply.small.count;
  if (count === 0) {
    return <NothingToDo listed={listed} days={days} reply={reply} />;
  }
  const safest = findings.filter(({ kind }) => kind === 'cash' || kind === 'capacity').slice(0, SAFEST);
  // The small ones are in the sums, listed or not.
  const all = reachWith(reachOf(findings), reply.small);
  const first = safest[0];
  return (
    <p className="verdict">
      <strong>{countWords(findings.length, reply.small.count)}</strong> can save <Reached reach={all} /> in{' '}
      {days === 1 ? 'a day' : `${days} days`}
      {BigInt(all.unknownMicros) > 0n ? (
        <>
          ; of <Link href={to('/findings', { category: 'unknown' })}>{usd(all.unknownMicros)}</Link> more nothing is
          known
        </>
      ) : null}
      .
      {safest.length < SAFEST || first === undefined ? null : (
        <>
          {' '}
          The <Link href={to(first.id === null ? '/findings' : `/findings/${first.id}`)}>five safest</Link> are worth{' '}
          <Reached reach={reachOf(safest)} />.
        </>
      )}
    </p>
  );
}

interface NothingToDoProps {
  readonly listed: number;
  readonly days: number;
  readonly reply: FindingsReply;
}

/** Without facts nobody looked, and of a filter only what it leaves is known: neither means that nothing is to do. */
function NothingToDo({ listed, days, reply }: NothingToDoProps) {
  const { words, to } = useAddress();
  const end = useFactsEnd();
  if (isOfNoFacts(reply))
    return <p className="verdict">{emptyWords({ team: words['team'], towards: keyToFacts(reply.window, end) })}</p>;
  const chosen = chosenWords(words);
  return (
    <p className="verdict">
      {noneWords({ chosen, listed, days })}
      {chosen === undefined ? null : (
        <>
          {' '}
          <Link href={to('/findings', NO_FILTER)}>Take the filter off</Link> for all that is to do.
        </>
      )}
    </p>
  );
}

function isOfNoFacts({ paidUsdMicros, heldSeconds }: FindingsReply): boolean {
  return isNothing({ usdMicros: paidUsdMicros, gpuSeconds: heldSeconds });
}

function Reached({ reach }: { readonly reach: Reach }) {
  const { to } = useAddress();
  if (!hasCash(reach) && !hasCapacity(reach)) return <>nothing that can be reached</>;
  return (
    <>
      {hasCash(reach) ? (
        <>
          <Link href={to('/findings')}>
            <strong>
              <Unbroken text={usdRange(reach.cash)} />
            </strong>
          </Link>{' '}
          of the bill
        </>
      ) : null}
      {hasCash(reach) && hasCapacity(reach) ? ' and free ' : hasCapacity(reach) ? 'no cash, and free ' : ''}
      {hasCapacity(reach) ? (
        <Link href={to('/findings')}>
          <strong>
            <Unbroken text={hoursRange(reach.capacity)} />
          </strong>
        </Link>
      ) : null}
    </>
  );
}

/** What the sentence is measured against. */
export function FindingsChecks({ reply, small }: { readonly reply: FindingsReply; readonly small: number }) {
  const { paidUsdMicros, unpricedSeconds, knownSeconds, heldSeconds, asOf, asOfBy, basisUsdMicros, numbers } = reply;
  const known = heldSeconds === 0 ? null : Math.floor((knownSeconds / heldSeconds) * 1000);
  const estimated = BigInt(basisUsdMicros['estimated'] ?? '0');
  if (isOfNoFacts(reply)) {
    return (
      <ul className="checks">
        <li>
          <StateMark state="none" />
          no facts
        </li>
      </ul>
    );
  }
  return (
    <ul className="checks">
      <li>
        <StateMark state={known === null ? 'none' : known >= 950 ? 'good' : 'warn'} />
        {known === null ? 'no GPU was held' : `${percent(known)} of held GPU time known`}
      </li>
      <li>
        <StateMark state={paidUsdMicros === null ? 'none' : estimated > 0n || unpricedSeconds > 0 ? 'warn' : 'good'} />
        {paidUsdMicros === null ? 'no price' : `${leastUsd(paidUsdMicros, unpricedSeconds)} paid`}
        {estimated > 0n ? `, ${usd(String(estimated))} of it estimated` : ''}
        {paidUsdMicros !== null && unpricedSeconds > 0 ? `, ${hours(unpricedSeconds)} GPU-hours without a price` : ''}
      </li>
      <li>
        as of {minute(asOf)} UTC{asOfBy === 'newest fact' ? ', the newest fact' : ''}
      </li>
      {small === 0 ? null : (
        <li>{small} small ones, below a thousandth of the waste, are in the sums and not listed</li>
      )}
      {numbers === 'refused' ? (
        <li>
          <StateMark state="warn" />
          the folder cannot be written to: new findings have no number
        </li>
      ) : null}
    </ul>
  );
}
