import type { UseQueryResult } from '@tanstack/react-query';
import { useAddress } from '../../address.ts';
import type { Answer, Problem } from '../../ask.ts';
import { Spark } from '../../charts/spark.tsx';
import { useKeys } from '../../frame/keys.ts';
import { CsvButton } from '../../parts/csv-button.tsx';
import { Section } from '../../parts/section.tsx';
import type { OneFindingAnswer } from '../../../../src/api/routes/findings/one-finding.ts';
import { FindingRows } from './finding-rows.tsx';
import { savingSteps } from './finding-words.ts';
import type { FindingRow } from './finding-words.ts';
import { stripCells, StripChart, StripTable } from './strips.tsx';

interface BodyProps {
  readonly finding: FindingRow;
  readonly reply: OneFindingAnswer;
  readonly csv: string;
  readonly answer: UseQueryResult<Answer<OneFindingAnswer>, Problem>;
}

/** Evidence, rows, why we believe it, what would change our mind, and from cost to saving. */
export function FindingBody({ finding, reply, csv, answer }: BodyProps) {
  return (
    <>
      {reply.strips.rows.length === 0 && finding.spark.length === 0 ? null : (
        <Evidence finding={finding} reply={reply} answer={answer} />
      )}
      <FindingRows reply={reply} csv={csv} command={answer.data?.command ?? null} />
      <div className="halves">
        <div className="stack">
          <section aria-labelledby="believe">
            <div className="section-head">
              <h2 id="believe">Why we believe it</h2>
            </div>
            <ul className="reasons">
              {finding.because.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </section>
          <section aria-labelledby="mind">
            <div className="section-head">
              <h2 id="mind">What would change our mind</h2>
            </div>
            <p className="reading">{finding.unless}</p>
          </section>
        </div>
        <Saving finding={finding} reply={reply} />
      </div>
    </>
  );
}

function Evidence({ finding, reply: { strips }, answer }: Omit<BodyProps, 'csv'>) {
  const { words, change } = useAddress();
  const isTable = words['view'] === 'table';
  const flip = (): void => change({ view: isTable ? undefined : 'table' }, { replace: true });
  const hasStrips = strips.rows.length > 0;
  useKeys(hasStrips ? [{ key: 't', words: 'table or chart', isShown: true, run: flip }] : []);
  const Strips = isTable ? StripTable : StripChart;
  return (
    <Section
      title="Evidence"
      sub={hasStrips ? 'the last seven days it speaks of, by hour, UTC' : 'up to now'}
      acts={
        hasStrips ? (
          <>
            <button className="link" onClick={flip}>
              {isTable ? 'chart' : 'table'}
            </button>
            <CsvButton
              name={`bursar-evidence-${finding.id ?? ''}`}
              columns={['subject', 'hour', 'computedPermille', 'state']}
              rows={() => stripCells(strips)}
            />
          </>
        ) : null
      }
      answer={answer}
    >
      {() => (
        <>
          {hasStrips ? <Strips strips={strips} /> : null}
          {finding.spark.length === 0 ? null : (
            <p className="spark-line">
              <Spark values={finding.spark} width={220} label="its course by equal steps up to now" />
              <span className="note">its course by equal steps up to now</span>
            </p>
          )}
          {hasStrips ? (
            <p className="note">
              Each hour: warm = held, no kernel ran; the cooler, the more of it computed; bare = nobody had it; hatched
              = not measured.
            </p>
          ) : null}
        </>
      )}
    </Section>
  );
}

function Saving({ finding, reply: { subjects, otherSubjects } }: Pick<BodyProps, 'finding' | 'reply'>) {
  const marginal = [...subjects, ...(otherSubjects === null ? [] : [otherSubjects])].reduce(
    (sum, { marginalUsdMicros }) => sum + BigInt(marginalUsdMicros ?? '0'),
    0n,
  );
  return (
    <section aria-labelledby="saving">
      <div className="section-head">
        <h2 id="saving">From cost to saving</h2>
      </div>
      <table>
        <caption className="unseen">From what it cost to what is saved</caption>
        <tbody>
          {savingSteps(finding, String(marginal)).map(({ words, figure, isSum }) => (
            <tr key={words} className={isSum ? 'sum' : undefined}>
              <th scope="row" className="row-head">
                {words}
              </th>
              <td className="n">{figure}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="note">
        In the window, at what the next hour costs. Nothing here is counted in another finding: each dollar of a day is
        claimed once.
      </p>
    </section>
  );
}
