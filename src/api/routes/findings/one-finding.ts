import { z } from 'zod';
import { findingStrips, findingSubjects } from '../../../app/findings/finding-subjects.ts';
import { explainFinding, oneFinding, rowsOfFinding, parseFindingNumber } from '../../../app/findings/one-finding.ts';
import type { OneFinding } from '../../../app/findings/one-finding.ts';
import type { FindingsRequest } from '../../../app/findings/find-findings.ts';
import { ledgerWindow } from '../../../app/window.ts';
import { isoTime } from '../../../report/figures.ts';
import { findingDetailJson, findingPartsCsv } from '../../../report/finding-detail.ts';
import { explanationJson } from '../../../report/finding-explanation.ts';
import { findingJson, recordJson } from '../../../report/finding-json.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import type { Asked } from '../../route.ts';
import { AsOf, Instant, Micros, Team, Window } from '../question.ts';
import { FindingChangeShape, FindingRecordShape, FindingShape } from './finding-shape.ts';

const Query = z.object({ window: Window, asOf: AsOf, team: Team });
const Params = z.object({ finding: z.string().meta({ description: 'Its number: F-12' }) });

const Sums = { gpuSeconds: z.number(), usdMicros: Micros.nullable(), marginalUsdMicros: Micros.nullable() };

const OneFindingReply = z.object({
  finding: FindingShape.nullable().meta({ description: 'Null where nothing of it is in the window any more' }),
  record: FindingRecordShape,
  history: z.array(FindingChangeShape),
  window: z.object({ from: Instant, until: Instant }),
  asOf: Instant,
  subjects: z
    .array(
      z.object({
        subject: z.string(),
        name: z.string(),
        team: z.string().nullable(),
        user: z.string().nullable(),
        devices: z.number().int(),
        days: z.number().int(),
        lastComputingAt: Instant.nullable(),
        ...Sums,
      }),
    )
    .meta({ description: 'Whose rows the money is of, the dearest first; with the others they add up to it' }),
  otherSubjects: z.object({ count: z.number().int(), ...Sums }).nullable(),
  teams: z.array(z.object({ team: z.string().nullable(), subjects: z.number().int(), ...Sums })),
  strips: z
    .object({
      from: Instant,
      until: Instant,
      rows: z.array(
        z.object({
          subject: z.string(),
          name: z.string(),
          lastComputingAt: Instant.nullable(),
          hours: z.array(z.union([z.number(), z.literal('unknown'), z.null()])),
        }),
      ),
    })
    .meta({ description: 'By hour: permille of the known time that computed, unknown, or null where nobody had it' }),
});
export type OneFindingAnswer = z.infer<typeof OneFindingReply>;

type Question = Asked<z.output<typeof Query>, z.output<typeof Params>>;

async function lookAt({ space, now, query, params }: Question): Promise<{ one: OneFinding; request: FindingsRequest }> {
  const { team } = query;
  const request: FindingsRequest = {
    window: ledgerWindow(query.window, now.at, space.scope),
    now: now.at,
    nowBy: now.by,
    ...(team !== undefined && { team }),
  };
  return { one: await oneFinding(space, parseFindingNumber(params.finding), request), request };
}

const command = ({ window, team }: z.output<typeof Query>, finding: string, verb = ''): string =>
  `bursar finding ${shellWord(finding)}${verb} --window ${shellWord(window)}${team === undefined ? '' : ` --team ${shellWord(team)}`}`;

/** All of one finding, with what its page shows. */
export const findingRoute = route({
  path: '/api/v1/findings/{finding}',
  name: 'getFinding',
  summary: 'All of one finding: money, owner, evidence, fix, how safe it is, and its history',
  page: 'findings',
  access: { role: 'viewer', sees: 'team' },
  query: Query,
  params: Params,
  reply: OneFindingReply,
  command: (query, { finding }) => command(query, finding),
  answer: async (asked) => {
    const { one, request } = await lookAt(asked);
    const { window, asOf } = one.answer;
    const rows = one.now === undefined ? [] : await rowsOfFinding(asked.space, one.now, request);
    const subjects = await findingSubjects(asked.space, rows, request);
    const strips =
      rows.length === 0
        ? { from: window.from, until: window.from, rows: [] }
        : await findingStrips(asked.space, rows, subjects, request);
    return plainJson<OneFindingAnswer>({
      finding: one.now === undefined ? null : findingJson(one.now),
      record: recordJson(one.record),
      history: one.history,
      window: { from: isoTime(window.from), until: isoTime(window.until) },
      asOf: isoTime(asOf),
      ...findingDetailJson(subjects, strips),
    });
  },
});

const Rows = z.object({
  id: z.string().nullable(),
  parts: z.array(
    z.object({
      day: z.string(),
      subject: z.string(),
      deviceId: z.string().nullable(),
      category: z.string(),
      reason: z.string().nullable(),
      permille: z.number(),
      usdMicros: Micros.nullable(),
      marginalUsdMicros: Micros.nullable(),
      gpuSeconds: z.number(),
    }),
  ),
  evidence: z.array(
    z.object({
      name: z.string(),
      rows: z.array(z.record(z.string(), z.unknown())),
      more: z.number().int(),
    }),
  ),
});
export type FindingRowsReply = z.infer<typeof Rows>;

/** The rows that add up to a finding. */
export const findingRowsRoute = route({
  path: '/api/v1/findings/{finding}/rows',
  name: 'explainFinding',
  summary: 'Which rows of the ledger and of its detector’s questions are behind a finding',
  page: 'findings',
  access: { role: 'viewer', sees: 'team' },
  query: Query,
  params: Params,
  reply: Rows,
  command: (query, { finding }) => command(query, finding, ' explain'),
  answer: async (asked) => {
    const { one, request } = await lookAt(asked);
    if (one.now === undefined) return { id: `F-${one.record.number}`, parts: [], evidence: [] };
    return plainJson<FindingRowsReply>(explanationJson(await explainFinding(asked.space, one.now, request)));
  },
  csv: ({ id, parts }) => findingPartsCsv(id, parts),
});
