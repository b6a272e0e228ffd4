import { Link, useLocation } from 'wouter';
import { useAddress } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { change, day, percent, points, statedFactDays } from '../../figures.ts';
import { conditionText } from '../../filter-words.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { useKeys } from '../../frame/keys.ts';
import { Content } from '../../parts/content.tsx';
import { Section } from '../../parts/section.tsx';
import type { TeamsReply } from '../../../../src/api/routes/teams/list-teams.ts';
import type { StatementReply } from '../../../../src/api/routes/teams/team-statement.ts';
import { MonthControl } from './month-control.tsx';
import { monthDays, monthName, usdOfCents } from './month-words.ts';
import { SpentOn, WhereItWent } from './statement-tables.tsx';
import { CouldDo, Outcomes, TimeToGpu } from './team-more.tsx';
import { Trend } from './trend.tsx';

/** What did this team pay for in a month? On screen, and on one A4 sheet. */
export function StatementPage({ team }: { readonly team: string | null }) {
  const { words, to } = useAddress();
  const [, navigate] = useLocation();
  const query = { month: words['month'] };
  const path = team === null ? '/unattributed/statement' : `/teams/${encodeURIComponent(team)}/statement`;
  const answer = useAnswer<StatementReply>(path, query);
  // What came before may be another team's: it is not shown under this name.
  const reply = answer.data?.data.team === team ? answer.data.data : undefined;
  const command = reply === undefined ? null : monthCommand(answer.data?.command ?? null, reply.month);
  useCommandKey(command);
  const isNone = reply === undefined && answer.error?.code === 'unknown-team';
  // Where the month has nothing of it, the list of teams still knows the months.
  const { data: list } = useAnswer<TeamsReply>('/teams', query, { enabled: isNone });
  const { months, month, status } = reply ?? (isNone ? list?.data : undefined) ?? NO_MONTHS;
  useKeys([
    { key: 'p', words: 'print', isShown: true, run: () => window.print() },
    { key: 'esc', words: 'teams', isShown: true, run: () => navigate(to('/teams', query)) },
  ]);
  return (
    <>
      <Head
        title={team ?? 'unattributed'}
        above={
          <>
            <Link href={to('/teams', query)}>Teams</Link>
            <span aria-hidden="true">/</span>
          </>
        }
      >
        <MonthControl months={months} month={month} status={status} />
      </Head>
      <Content answer={answer} className="stack statement">
        {reply === undefined ? null : <Title reply={reply} />}
        {isNone ? (
          <None team={team} month={month ?? words['month']} months={months} hint={answer.error?.hint ?? null} />
        ) : (
          <div className="columns">
            <Section
              title="What it was spent on"
              answer={answer}
              csv={csvAddress(path, query)}
              acts={
                <button className="link" onClick={() => window.print()}>
                  print
                </button>
              }
            >
              {(data) => (data.team === team ? <SpentOn reply={data} /> : null)}
            </Section>
            {reply === undefined ? null : <WhereItWent reply={reply} />}
          </div>
        )}
        {reply === undefined ? null : (
          <>
            <div className="columns">
              <Trend reply={reply} />
              <TimeToGpu reply={reply} />
            </div>
            {team === null ? null : <Outcomes team={team} month={reply.month} />}
            {team === null ? null : <CouldDo team={team} month={reply.month} />}
            <Foot reply={reply} command={command} />
          </>
        )}
      </Content>
    </>
  );
}

const NO_MONTHS = { months: [], month: undefined, status: undefined };

interface NoneProps {
  readonly team: string | null;
  readonly month: string | undefined;
  readonly months: readonly string[];
  readonly hint: string | null;
}

/** A month in which nothing is of this team: which other month may have something. */
function None({ team, month, months, hint }: NoneProps) {
  const { words, path, to } = useAddress();
  const other = months.findLast((each) => each !== month);
  const when = month === undefined ? 'this month' : monthName(month);
  return (
    <div>
      <p className="verdict">
        {team === null ? `Nothing is unattributed in ${when}.` : `Nothing in ${when} belongs to ${team}.`}
      </p>
      <p className="note">
        Choose another month above
        {other === undefined ? null : (
          <>
            , <Link href={to(path, { ...words, month: other })}>{monthName(other)}</Link> for one
          </>
        )}
        . {hint}
      </p>
    </div>
  );
}

function Title({ reply }: { readonly reply: StatementReply }) {
  const days = statedFactDays(reply);
  const { team, kind, number, revision, issuedAt, status, asOf, costCentre, accountCode, window } = reply;
  const issued =
    status === 'closed' && issuedAt !== null
      ? `${day(issuedAt)} ${issuedAt.slice(0, 4)}`
      : status === 'running'
        ? `not yet: ${monthName(reply.month)} goes on`
        : 'not yet: the month is not closed';
  return (
    <div>
      <div className="statement-title">
        <div>
          <h2>{kind === 'chargeback' ? 'GPU invoice' : 'GPU showback statement'}</h2>
          <p className="soft">
            {team === null ? 'What no team owns' : `Team ${team}`}, {monthDays(window)} (UTC)
            {days === null ? '' : `, ${days} with facts`}
          </p>
        </div>
        <dl className="facts">
          <dt>Statement</dt>
          <dd>{number === null ? 'none: not closed' : `${number}, revision ${revision ?? 1}`}</dd>
          <dt>Issued</dt>
          <dd>{issued}</dd>
          <dt>Basis</dt>
          <dd>{basisWords(reply)}</dd>
          {costCentre === null ? null : (
            <>
              <dt>Cost centre</dt>
              <dd>
                {costCentre}
                {accountCode === null ? '' : `, account ${accountCode}`}
              </dd>
            </>
          )}
          {status === 'closed' ? null : (
            <>
              <dt>As of</dt>
              <dd>
                {day(asOf)} {asOf.slice(0, 4)}, {asOf.slice(11, 16)}
              </dd>
            </>
          )}
        </dl>
      </div>
      <Verdict reply={reply} days={days} />
    </div>
  );
}

interface VerdictProps {
  readonly reply: StatementReply;
  /** Of how many days there are facts, where not of all. */
  readonly days: string | null;
}

function Verdict({ reply, days }: VerdictProps) {
  const { to } = useAddress();
  const { team, total, amountCents, month, status, before, computeSharePermille, everyoneSharePermille } = reply;
  const paid = total.usdMicros === null ? 'no price' : usdOfCents(amountCents);
  const moved = before === null ? null : change(total.usdMicros, before.usdMicros);
  const pts = points(computeSharePermille, before?.computeSharePermille ?? null);
  const filter = conditionText({ name: 'team', value: team });
  return (
    <p className="verdict">
      {team === null ? 'Nobody owns ' : `${team} paid `}
      <Link href={to('/spend', { window: month, filter, by: 'job' })}>
        <strong>{paid}</strong>
      </Link>{' '}
      in {monthName(month)}
      {status === 'running' ? ' so far' : ''}
      {days === null ? '' : ` (${days} with facts)`}
      {moved === null || before === null
        ? ''
        : `, ${moved.replace(/^[+−±]/, '')} ${moved.startsWith('−') ? 'less' : 'more'} than in ${monthName(before.month)}`}
      .{' '}
      {computeSharePermille === null ? (
        'How much of it computed is not known.'
      ) : (
        <>
          <Link href={to('/spend', { window: month, filter, by: 'category' })}>
            <strong>{percent(computeSharePermille, 0)}</strong>
          </Link>{' '}
          of what is known computed{pts === null ? '' : `, ${pts}`}
          {everyoneSharePermille === null || team === null
            ? ''
            : `; all teams together ${percent(everyoneSharePermille, 0)}`}
          .
        </>
      )}
    </p>
  );
}

/** What the money rests on. */
export function basisWords({ basisUsdMicros }: Pick<StatementReply, 'basisUsdMicros'>): string {
  const words: Readonly<Record<string, string>> = { billed: 'billed', rate: 'stated rates', estimated: 'estimates' };
  const there = Object.entries(basisUsdMicros).filter(([, micros]) => micros !== '0');
  if (there.length === 0) return 'effective cost';
  return `effective cost; ${there.map(([name]) => words[name] ?? name).join(' and ')}`;
}

/** A sheet is of its month for ever, also where the address did not name it. */
function monthCommand(command: string | null, month: string): string | null {
  return command === null || command.includes(' --month ') ? command : `${command} --month ${month}`;
}

interface FootProps {
  readonly reply: StatementReply;
  readonly command: string | null;
}

function Foot({ reply, command }: FootProps) {
  const bills = reply.coverage.map(({ bill, coveredUntil }) =>
    coveredUntil === null ? bill : `${bill} up to ${day(Date.parse(coveredUntil) - 1)}`,
  );
  return (
    <p className="note statement-foot">
      {command === null ? null : (
        <>
          The same on the command line: <code>{command}</code>.{' '}
        </>
      )}
      {bills.length === 0 ? 'No bill covers it.' : `Bills: ${bills.join('; ')}.`} Stranded and unallocated capacity
      stays with its owner and is not spread over teams. What changes after a month is closed stands on a later
      statement as an adjustment, never silently.
    </p>
  );
}
