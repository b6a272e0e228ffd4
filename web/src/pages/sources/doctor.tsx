import { useAnswer } from '../../ask.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { StateMark } from '../../parts/marks.tsx';
import type { State } from '../../parts/marks.tsx';
import { Section } from '../../parts/section.tsx';
import type { DoctorReply } from '../../../../src/api/routes/sources/doctor-shape.ts';

const STATES: Readonly<Record<string, State>> = {
  ok: 'good',
  partial: 'warn',
  attention: 'warn',
  down: 'bad',
  wrong: 'bad',
};

interface Checked {
  readonly what: string;
  readonly state: string;
  readonly says: string;
  readonly todo: readonly string[];
}

/** What answers rest on, asked now: each source, the folder, the disk, the clock; and what to do about what is wrong. */
export function Doctor() {
  const answer = useAnswer<DoctorReply>('/doctor');
  return (
    <Section
      title="Doctor"
      sub="asked when the page was opened"
      acts={
        <button className="link" onClick={() => void answer.refetch()}>
          ask again
        </button>
      }
      answer={answer}
    >
      {({ sources, places }) => {
        const rows: Checked[] = [
          ...sources.map(({ name, state, says, todo, advice }) => ({
            what: name,
            state,
            says,
            todo: [
              ...(todo === null ? [] : [todo]),
              ...advice.map(({ missing, sharpens, todo: line }) => `${missing}; it ${sharpens}: ${line}`),
            ],
          })),
          ...places.map(({ what, state, says, todo }) => ({ what, state, says, todo: todo === null ? [] : [todo] })),
        ];
        return (
          <DataTable
            caption="What the doctor says"
            columns={[
              {
                title: 'What',
                cell: ({ what, state }) => (
                  <span className="radius-line">
                    <StateMark state={STATES[state] ?? 'none'} /> {what}
                  </span>
                ),
              },
              {
                title: 'How it is',
                className: 'wrap',
                cell: ({ says, todo }) => (
                  <>
                    {says}
                    {todo.map((line) => (
                      <p key={line} className="note">
                        → {line}
                      </p>
                    ))}
                  </>
                ),
              },
            ]}
            rows={rows}
            keyOf={({ what }) => what}
          />
        );
      }}
    </Section>
  );
}
