import { useAddress } from '../../address.ts';
import { useWidth } from '../../charts/use-width.ts';
import { axisUsd, ticksOf } from '../../charts/scale.ts';
import { percent, usd } from '../../figures.ts';
import { useKeys } from '../../frame/keys.ts';
import { CsvButton } from '../../parts/csv-button.tsx';
import type { StatementReply } from '../../../../src/api/routes/teams/team-statement.ts';
import { monthName, monthShort } from './month-words.ts';

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [44, 8, 18, 20, 132];
const USD_MICROS = 1_000_000;
const BAR_MAX = 56;

/** Paid by month, with the share that computed over each bar; the running month is lighter. */
export function Trend({ reply }: { readonly reply: StatementReply }) {
  const { trend, month, team } = reply;
  const { words, change } = useAddress();
  const isTable = words['view'] === 'table';
  // One month is no trend.
  const isRows = isTable || trend.length < 2;
  const flip = (): void => change({ view: isTable ? undefined : 'table' }, { replace: true });
  useKeys([{ key: 't', words: 'table or chart', isShown: true, run: flip }]);
  return (
    <section aria-labelledby="trend">
      <div className="section-head">
        <h2 id="trend">By month</h2>
        <span className="sub">
          {isRows
            ? 'paid, and how much of what is known computed'
            : 'paid; over each bar, how much of what is known computed'}
        </span>
        <span className="acts">
          {trend.length < 2 ? null : (
            <button className="link" onClick={flip}>
              {isTable ? 'chart' : 'table'} <kbd>t</kbd>
            </button>
          )}
          <CsvButton
            name={`bursar-months-${team ?? 'unattributed'}`}
            columns={['month', 'state', 'computedPermille', 'usdMicros']}
            rows={() => trend.map((each) => [each.month, each.status, each.computeSharePermille, each.usdMicros])}
          />
        </span>
      </div>
      {isRows ? <TrendTable trend={trend} /> : <Bars trend={trend} month={month} />}
      {trend.length === 1 ? <p className="note">The ledger has one month so far.</p> : null}
    </section>
  );
}

type Points = StatementReply['trend'];

function Bars({ trend, month }: { readonly trend: Points; readonly month: string }) {
  const [room, width] = useWidth<HTMLDivElement>(640);
  const values = trend.map(({ usdMicros }) => (usdMicros === null ? null : Number(usdMicros) / USD_MICROS));
  const ticks = ticksOf(0, Math.max(1, ...values.map((value) => value ?? 0)), 3);
  const top = ticks.at(-1) ?? 1;
  const slot = (width - LEFT - RIGHT) / Math.max(1, trend.length);
  const y = (value: number): number => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const wide = Math.min(BAR_MAX, slot * 0.6);
  const label = trend.map((each) => `${monthName(each.month)} ${usd(each.usdMicros)}`).join(', ');
  return (
    <div ref={room} className="chart">
      <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Paid: ${label}`}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} className={tick === 0 ? 'axis' : 'grid'} />
            <text x={LEFT - 6} y={y(tick) + 4} textAnchor="end">
              {axisUsd(tick, ticks)}
            </text>
          </g>
        ))}
        {trend.map((each, place) => {
          const middle = LEFT + slot * (place + 0.5);
          const value = values[place] ?? null;
          // Without a price there is no height: a hatch from the ground to the top, and the words.
          const height = value === null ? top : Math.max(0, value);
          return (
            <g key={each.month}>
              <rect
                x={middle - wide / 2}
                y={y(height)}
                width={wide}
                height={Math.max(0, y(0) - y(height))}
                className={value === null ? 'f-unknown' : each.status === 'running' ? 'f-now estimated' : 'f-now'}
              />
              <text
                x={middle}
                y={y(height) - 4}
                textAnchor="middle"
                className={each.month === month ? 'ink' : undefined}
              >
                {value === null ? 'no price' : percent(each.computeSharePermille, 0)}
              </text>
              <text x={middle} y={HEIGHT - 4} textAnchor="middle" className={each.month === month ? 'ink' : undefined}>
                {monthShort(each.month)}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function TrendTable({ trend }: { readonly trend: Points }) {
  return (
    <table>
      <caption className="unseen">Paid by month</caption>
      <thead>
        <tr>
          <th scope="col">Month</th>
          <th scope="col">State</th>
          <th scope="col" className="n">
            Computed
          </th>
          <th scope="col" className="n">
            Paid
          </th>
        </tr>
      </thead>
      <tbody>
        {trend.map((each) => (
          <tr key={each.month}>
            <td>{monthName(each.month)}</td>
            <td className="soft">{each.status === 'running' ? 'so far' : each.status}</td>
            <td className="n">{percent(each.computeSharePermille)}</td>
            <td className="n">{usd(each.usdMicros)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
