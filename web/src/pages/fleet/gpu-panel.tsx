import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import { cut, day, hours, least, leastUsd, minute, percent, usdParts } from '../../figures.ts';
import { useKeys } from '../../frame/keys.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CsvButton } from '../../parts/csv-button.tsx';
import { Swatch } from '../../parts/marks.tsx';
import { Loading } from '../../parts/section.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { stepOf, STEPS } from '../../steps.ts';
import type { GpuReply } from '../../../../src/api/routes/fleet/fleet-gpu.ts';
import { GpuDay, GpuHours, hourCells } from './gpu-day.tsx';

/** One GPU: its health, its day, its jobs, its money. */
export function GpuPanel({ gpu }: { readonly gpu: string }) {
  const { words, change } = useAddress();
  const query = { window: words['window'] ?? 'today', asOf: words['asOf'] };
  const answer = useAnswer<GpuReply>(`/fleet/gpus/${encodeURIComponent(gpu)}`, query);
  const close = (): void => change({ gpu: undefined });
  const panel = useRef<HTMLElement>(null);
  // Below the map on a narrow screen, where nobody would see that it opened.
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  useKeys([{ key: 'esc', words: 'close the GPU', run: close }]);
  const reply = answer.data?.data;
  return (
    <aside ref={panel} className="panel follows" aria-label="One GPU" tabIndex={0}>
      <div className="panel-head">
        <h2>{reply === undefined ? cut(gpu, 20) : `${cut(reply.node ?? 'no node', 22)}, GPU ${reply.place}`}</h2>
        <span className="muted">{reply?.cluster ?? ''}</span>
        <span className="push" />
        <button className="control plain" onClick={close}>
          Close <kbd>esc</kbd>
        </button>
      </div>
      {answer.error === null ? null : <Trouble problem={answer.error} retry={() => void answer.refetch()} />}
      {reply === undefined ? (
        answer.error === null ? (
          <Loading />
        ) : null
      ) : (
        <Facts reply={reply} command={answer.data?.command ?? null} />
      )}
    </aside>
  );
}

function healthWords({ health, state }: GpuReply): string {
  const troubles = [
    state === null || state === 'up' ? '' : `node ${state}`,
    health.xid === null ? '' : `XID ${health.xid}`,
    health.throttledSamples === 0 ? '' : `throttled in ${health.throttledSamples} of ${health.samples} samples`,
    health.lyingSamples === 0 ? '' : `${health.lyingSamples} samples contradict themselves`,
  ].filter((word) => word !== '');
  if (health.samples === 0) return 'No sample in this window: nothing is known of its health.';
  return troubles.length === 0 ? 'Healthy: no XID, no throttling.' : `${troubles.join(', ')}.`;
}

function Facts({ reply, command }: { readonly reply: GpuReply; readonly command: string | null }) {
  const { words, change } = useAddress();
  const isTable = words['hours'] === 'table';
  const isDay = Date.parse(reply.window.until) - Date.parse(reply.window.from) <= 86_400_000;
  return (
    <>
      <p className="soft small">
        {reply.model ?? 'model unknown'}, <span title={reply.deviceId}>{cut(reply.deviceId, 22)}</span>.{' '}
        {healthWords(reply)}{' '}
        {reply.health.lastKnownAt === null ? '' : `Last heard of ${minute(reply.health.lastKnownAt)} UTC.`}
      </p>
      <section>
        <div className="section-head">
          <h3>
            {isDay ? day(reply.window.from) : `${day(reply.window.from)} – ${day(Date.parse(reply.window.until) - 1)}`}
          </h3>
          <span className="sub">SM active by the hour</span>
          <span className="acts">
            <button
              className="link"
              onClick={() => change({ hours: isTable ? undefined : 'table' }, { replace: true })}
            >
              {isTable ? 'chart' : 'table'}
            </button>
            <CsvButton
              name={`bursar-gpu-${reply.deviceId}`}
              columns={['hour', 'activePermille', 'memoryMib', 'jobs']}
              rows={() => hourCells(reply)}
            />
          </span>
        </div>
        {isTable ? <GpuHours reply={reply} /> : <GpuDay reply={reply} />}
      </section>
      <Holders reply={reply} />
      <Money reply={reply} command={command} />
      <section>
        <div className="section-head">
          <h3>Findings on it</h3>
        </div>
        {reply.findings.length === 0 ? <p className="note">None.</p> : null}
        <ul className="stack-small">
          {reply.findings.map(({ number, what }) => (
            <li key={number}>
              <FindingLink number={number} /> {what}
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

export function FindingLink({ number }: { readonly number: number }) {
  const { to } = useAddress();
  return <Link href={to(`/findings/F-${number}`)}>F-{number}</Link>;
}

function Holders({ reply }: { readonly reply: GpuReply }) {
  const { to } = useAddress();
  const shown = usdParts(reply.holders.map(({ costUsdMicros }) => costUsdMicros));
  const isLong = Date.parse(reply.window.until) - Date.parse(reply.window.from) > 86_400_000;
  const clock = (time: string): string => (isLong ? minute(time) : time.slice(11, 16));
  return (
    <section>
      <div className="section-head">
        <h3>Jobs</h3>
      </div>
      <div className="scroll" tabIndex={0} role="group" aria-label="Jobs on this GPU">
        <table>
          <thead>
            <tr>
              <th scope="col">Job</th>
              <th scope="col">held, UTC</th>
              <th scope="col" className="n">
                SM active
              </th>
              <th scope="col" className="n">
                USD
              </th>
            </tr>
          </thead>
          <tbody>
            {reply.holders.map((holder, place) => (
              <tr key={`${holder.source ?? ''}/${holder.allocationId ?? ''}/${holder.from}`}>
                <td>
                  {holder.allocationId === null ? (
                    <span className="muted">{holder.isHeld ? 'holder unknown' : 'nobody'}</span>
                  ) : (
                    <Link
                      href={to(`/jobs/${encodeURIComponent(`${holder.source ?? ''}/${holder.allocationId}`)}`)}
                      title={holder.job ?? holder.allocationId}
                    >
                      {cut(holder.job ?? holder.allocationId, 18)}
                    </Link>
                  )}
                  <span className="gloss">{holder.team ?? ''}</span>
                </td>
                <td>
                  {clock(holder.from)}–{holder.until === reply.window.until && !isLong ? '24:00' : clock(holder.until)}
                </td>
                <td className="n">
                  {holder.isHeld
                    ? holder.activePermille === null
                      ? 'unknown'
                      : percent(holder.activePermille, 0)
                    : '–'}
                </td>
                <td className="n">{least(shown.parts[place] ?? '', holder.unpricedSeconds)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={3}>{hours(reply.categories.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0))} h</td>
              <td className="n">{least(shown.total, reply.unpricedSeconds)}</td>
            </tr>
          </tfoot>
        </table>
      </div>
    </section>
  );
}

function Money({ reply, command }: { readonly reply: GpuReply; readonly command: string | null }) {
  const order = STEPS.map(({ category }) => category);
  const categories = reply.categories.toSorted((a, b) => order.indexOf(a.category) - order.indexOf(b.category));
  const shown = usdParts(categories.map(({ costUsdMicros }) => costUsdMicros));
  return (
    <section>
      <div className="section-head">
        <h3>
          {reply.costUsdMicros === null
            ? 'Where its time went'
            : `Where its ${least(shown.total, reply.unpricedSeconds)} went`}
        </h3>
        <span className="acts">{command === null ? null : <CopyButton text={command} words="command" />}</span>
      </div>
      <table>
        <caption className="unseen">Its money by what became of it</caption>
        <tbody>
          {categories.map(({ category, reason, gpuSeconds, unpricedSeconds }, place) => (
            <tr key={`${category} ${reason ?? ''}`}>
              <th scope="row" className="row-head">
                <Swatch of={stepOf(category)?.of ?? 'unknown'} />
                {stepOf(category)?.word ?? category}
              </th>
              <td className="soft">{reason ?? `${hours(gpuSeconds)} h`}</td>
              <td className="n">{least(shown.parts[place] ?? '', unpricedSeconds)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td colSpan={2}>Paid</td>
            <td className="n">{leastUsd(reply.costUsdMicros, reply.unpricedSeconds)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}
