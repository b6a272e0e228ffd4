import { z } from 'zod';
import { detectorNames } from '../../../app/findings/ask-detectors.ts';
import { categoryNamed } from '../../../app/filter.ts';
import { findFindings } from '../../../app/findings/find-findings.ts';
import { choiceOf, findingsInStates } from '../../../report/finding-answer.ts';
import { ledgerWindow } from '../../../app/window.ts';
import type { FindingState } from '../../../facts/finding.ts';
import { OperationError } from '../../../facts/operation-error.ts';
import { nearestName } from '../../../facts/nearest-name.ts';
import { findingsJson, recordJson } from '../../../report/finding-json.ts';
import { toldFindings } from '../../../report/finding-list.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { microsOf, plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Instant, Micros, NoParams, Span, Team, Window } from '../question.ts';
import { FINDING_STATES, FindingRecordShape, FindingShape, MicrosRange, SecondsRange } from './finding-shape.ts';

const Query = z.object({
  window: Window,
  asOf: AsOf,
  team: Team,
  state: z
    .string()
    .optional()
    .meta({ description: 'Only in these states, with commas between them; what is to do where not said' }),
  detector: z.string().optional().meta({ description: 'Only what one detector found' }),
  category: z.string().optional().meta({ description: 'Only of this category of the waterfall' }),
  owner: z
    .string()
    .max(300)
    .optional()
    .meta({ description: 'Only whose: the one it was given to, else its user, its team, or `team / user`' }),
  small: z
    .enum(['yes', 'no'])
    .default('yes')
    .meta({ description: 'no: without those below smallBelowUsdMicros, which are then told together' }),
});

const Sum = {
  cashUsdMicros: MicrosRange,
  capacityGpuSeconds: SecondsRange,
  cashIfRentedUsdMicros: Micros,
  unknownUsdMicros: Micros,
};

const Findings = z.object({
  asOf: Instant,
  asOfBy: z.enum(['asked', 'newest fact', 'clock']),
  window: Span.extend({ ledgerDays: z.number().int().meta({ description: 'Of so many days there are facts' }) }),
  team: z.string().nullable(),
  paidUsdMicros: Micros.nullable(),
  wasteUsdMicros: z.record(z.string(), Micros),
  basisUsdMicros: z.record(z.string(), Micros),
  unpricedSeconds: z.number().meta({ description: 'GPU time without a price: in no money here' }),
  knownSeconds: z.number(),
  heldSeconds: z.number(),
  sum: z
    .object(Sum)
    .meta({ description: 'Of everything that is to do; each kind by itself, since they are never added' }),
  smallBelowUsdMicros: Micros,
  findings: z.array(FindingShape),
  small: z
    .object({ count: z.number().int(), ...Sum })
    .meta({ description: 'What is left out with small=no, together: those of it that are to do' }),
  names: z
    .object({
      categories: z.array(z.string()),
      detectors: z.array(z.string()),
      teams: z.array(z.string()),
      owners: z.array(z.string()),
    })
    .meta({ description: 'What can be asked for in these states, whichever of it was' }),
  setAside: z.number().int(),
  hidden: z.number().int(),
  numbers: z.enum(['kept', 'read', 'refused']),
  fixed: z.array(FindingRecordShape).optional().meta({ description: 'Where state has fixed: gone from the data' }),
});
export type FindingsReply = z.infer<typeof Findings>;

/** What there is to do, safe first, then money. */
export const findingsRoute = route({
  path: '/api/v1/findings',
  name: 'listFindings',
  summary: 'What is wasted, whose it is, why, and what to do about it: safest first, then money',
  page: 'findings',
  access: { role: 'viewer', sees: 'team' },
  query: Query,
  params: NoParams,
  reply: Findings,
  command: ({ window, team, state, detector, category, owner, small }) =>
    [
      `bursar findings --window ${shellWord(window)}`,
      ...(team === undefined ? [] : [`--team ${shellWord(team)}`]),
      ...(state === undefined ? [] : [`--state ${shellWord(state)}`]),
      ...(detector === undefined ? [] : [`--detector ${shellWord(detector)}`]),
      ...(category === undefined ? [] : [`--category ${shellWord(category)}`]),
      ...(owner === undefined ? [] : [`--owner ${shellWord(owner)}`]),
      small === 'no' ? '--all' : '--small',
    ].join(' '),
  answer: async ({ space, now, viewer, query }) => {
    const { team, detector } = query;
    const states = query.state === undefined ? undefined : statesOf(query.state);
    if (detector !== undefined) checkDetector(detector);
    if (query.category !== undefined) categoryNamed(query.category);
    const answer = await findFindings(space, {
      window: ledgerWindow(query.window, now.at, space.scope),
      now: now.at,
      nowBy: now.by,
      ...(team !== undefined && { team }),
    });
    const shown = states === undefined ? answer : findingsInStates(answer, states);
    const filter = choiceOf(query);
    const { told, folded } = toldFindings(shown, {
      all: true,
      small: query.small === 'yes',
      ...(filter !== undefined && { filter }),
    });
    // What is gone from the data has no money, and so no team that could be asked about.
    const isWhole = viewer.team === undefined && team === undefined;
    const fixed = isWhole && states?.includes('fixed') === true;
    return plainJson<FindingsReply>({
      ...(findingsJson(shown, told, folded) as object),
      ...(fixed && {
        fixed: space.findings
          .records()
          .filter(({ state }) => state === 'fixed')
          .toSorted((a, b) => (a.lastSeenAt < b.lastSeenAt ? 1 : -1))
          .map((record) => recordJson(record)),
      }),
    });
  },
  csv: findingsCsv,
});

const COLUMNS = [
  'id',
  'state',
  'blastRadius',
  'kind',
  'usdMicros',
  'cashLowUsdMicros',
  'cashHighUsdMicros',
  'capacityLowGpuSeconds',
  'capacityHighGpuSeconds',
  'category',
  'detector',
  'team',
  'user',
  'assignedTo',
  'effort',
  'what',
];

function findingsCsv({ findings }: FindingsReply): string {
  const lines = findings.map((each) =>
    csvLine([
      each.id,
      each.state,
      each.blastRadius,
      each.kind,
      microsOf(each.usdMicros),
      microsOf(each.cashUsdMicros.low),
      microsOf(each.cashUsdMicros.high),
      each.capacityGpuSeconds.low,
      each.capacityGpuSeconds.high,
      each.category,
      each.detector,
      each.team,
      each.user,
      each.assignedTo,
      each.effort,
      each.what,
    ]),
  );
  return [csvLine(COLUMNS), ...lines].join('');
}

function statesOf(text: string): FindingState[] {
  return text.split(',').map((word) => {
    const state = FINDING_STATES.find((each) => each === word.trim());
    if (state !== undefined) return state;
    throw new OperationError('bad-option', `state: ${word} is no state of a finding`, {
      hint: `One or more of ${FINDING_STATES.join(', ')}, with commas between them.`,
    });
  });
}

function checkDetector(text: string): void {
  const known = detectorNames();
  if (known.includes(text)) return;
  const nearest = nearestName(text, known);
  throw new OperationError('bad-option', `detector: ${text} is no detector`, {
    hint: nearest === undefined ? `One of ${known.join(', ')}.` : `Did you mean ${nearest}?`,
  });
}
