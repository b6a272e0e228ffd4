import { useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import { day, hours, least, leastUsd, usdParts } from '../../figures.ts';
import { filterText } from '../../filter-words.ts';
import { Figure } from '../../why/figure.tsx';
import type { FleetReply } from '../../../../src/api/routes/fleet/fleet.ts';
import type { WhyReply } from '../../../../src/api/routes/spend/spend-why.ts';
import { gpuMoney, NO_INVENTORY } from './gpu-money.ts';

/** What the fleet cost and what came of it, adding up as it is shown; each figure answers why. */
export function FleetSentence({ reply }: { readonly reply: FleetReply }) {
  const { words } = useAddress();
  const { total, groups } = reply;
  if (total.gpus === 0) {
    const isFiltered = words['filter'] !== undefined;
    return (
      <p className="verdict">{isFiltered ? 'No GPU of this filter was there' : 'No GPU was there'} in this window.</p>
    );
  }
  if (total.costUsdMicros === null) {
    return (
      <p className="verdict">
        <strong>{total.gpus.toLocaleString('en-US')} GPUs</strong> without a price.{' '}
        <code>bursar import rates FILE</code> gives them one.
      </p>
    );
  }
  const shown = usdParts([
    total.activeUsdMicros,
    total.idleUsdMicros,
    total.unallocatedUsdMicros,
    total.unknownUsdMicros,
  ]);
  const money = gpuMoney(groups, words['filter']);
  const parts = [
    ['with activity', least(shown.parts[0] ?? '', total.activeUnpricedSeconds), money.active],
    ['held but idle', least(shown.parts[1] ?? '', total.idleUnpricedSeconds), money.idle],
    ['unallocated', least(shown.parts[2] ?? '', total.unallocatedUnpricedSeconds), money.unallocated],
    ['unknown', least(shown.parts[3] ?? '', total.unknownUnpricedSeconds), money.unknown],
  ] as const;
  return (
    <p className="verdict">
      <Figure of={money.all}>{least(shown.total, total.unpricedSeconds)}</Figure> of GPU time on{' '}
      {total.gpus.toLocaleString('en-US')} {total.gpus === 1 ? 'GPU' : 'GPUs'} that {total.gpus === 1 ? 'was' : 'were'}{' '}
      there {whenWords(reply.window)}:{' '}
      {parts.map(([word, amount, of], place) => (
        <span key={word}>
          {place === 0 ? '' : ', '}
          <Figure of={of}>{amount}</Figure> {word}
        </span>
      ))}
      .
      <NotInMap />
      {words['team'] === undefined ? null : (
        <> Machines have no team: this is the whole fleet, not only {words['team']}.</>
      )}
    </p>
  );
}

/** `on 31 Oct`, `at some time from 2 Oct to 31 Oct`: machines come and go, so there are more of them than at once. */
export function whenWords({ from, until }: FleetReply['window']): string {
  const [first, last] = [day(from), day(Date.parse(until) - 1)];
  return first === last ? `on ${first}` : `at some time from ${first} to ${last}`;
}

/** GPU machines that only the bill knows are in no inventory and so in no row: their money is told, or pages differ. */
function NotInMap() {
  const { words } = useAddress();
  const of = filterText(words['filter'], NO_INVENTORY) ?? '';
  const query = { window: words['window'] ?? 'today', asOf: words['asOf'], filter: of };
  const figure = useAnswer<WhyReply>('/spend/why', query).data?.data.figure;
  if (figure === undefined) return null;
  const { usdMicros, gpuSeconds, unpricedSeconds } = figure;
  if (unpricedSeconds === 0 && (usdMicros === null || usdMicros === '0')) return null;
  return (
    <>
      {' '}
      <Figure of={of}>
        {usdMicros === null ? `${hours(gpuSeconds)} GPU-hours without a price` : leastUsd(usdMicros, unpricedSeconds)}
      </Figure>{' '}
      more went to machines that no inventory knows.
    </>
  );
}
