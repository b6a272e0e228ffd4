import { z } from 'zod';
import { decideFinding } from '../../../app/findings/decide-finding.ts';
import type { Decision } from '../../../app/findings/decide-finding.ts';
import { parseFindingNumber } from '../../../app/findings/one-finding.ts';
import { recordJson } from '../../../report/finding-json.ts';
import { plainJson } from '../../plain-json.ts';
import { deed } from '../../route.ts';
import type { Deed } from '../../route.ts';
import { FINDING_STATES, FindingChangeShape, FindingRecordShape } from './finding-shape.ts';

const Params = z.object({ finding: z.string().meta({ description: 'Its number: F-12' }) });

const Seen = {
  seen: z
    .enum(FINDING_STATES)
    .optional()
    .meta({ description: 'The state it had when you looked: refused where somebody has said something else since' }),
  window: z.string().optional().meta({ description: 'Where it is claimed; 30d where not said' }),
};
const Reason = z.string().trim().min(1, 'say why: whoever reads this later has to know').max(2000);

const Decided = FindingRecordShape.extend({ history: z.array(FindingChangeShape) });
export type DecidedReply = z.infer<typeof Decided>;

function decision<Body extends z.ZodObject>(change: Decision['change'], summary: string, body: Body): Deed {
  return deed({
    path: `/api/v1/findings/{finding}/${change}`,
    name: `${change}Finding`,
    summary,
    page: 'findings',
    access: { role: 'operator', sees: 'team' },
    params: Params,
    body,
    reply: Decided,
    act: async ({ parts, viewer, params, body: said }) => {
      const { record, history } = await decideFinding(parts, parseFindingNumber(params.finding), {
        ...(said as Partial<Decision>),
        change,
        by: viewer.name,
        ...(viewer.team !== undefined && { team: viewer.team }),
      });
      return plainJson<DecidedReply>({ ...recordJson(record), history });
    },
  });
}

/** What people may say of a finding; each does what the command of the same name does, and nothing of the fleet changes. */
export const FINDING_DEEDS: readonly Deed[] = [
  decision(
    'accept',
    'Say that a finding will be fixed',
    z.object({ ...Seen, reason: z.string().max(2000).optional() }),
  ),
  decision(
    'exempt',
    'Set a finding aside until a day, with a reason',
    z.object({
      ...Seen,
      until: z.string().meta({ description: 'Its last day: 2026-12-01' }),
      reason: Reason,
    }),
  ),
  decision('dismiss', 'Say that a finding is none, with a reason', z.object({ ...Seen, reason: Reason })),
  decision(
    'assign',
    'Say who is to look after a finding',
    z.object({
      ...Seen,
      seenAssignedTo: z
        .string()
        .nullable()
        .optional()
        .meta({ description: 'Who had it when you looked, null for nobody: refused where somebody else has it since' }),
      to: z.string().trim().min(1, 'to whom?').max(200),
    }),
  ),
  decision(
    'reopen',
    'Take back what was said of a finding',
    z.object({ ...Seen, reason: z.string().max(2000).optional() }),
  ),
];
