import { Argument, Command } from 'commander';
import { findConfig } from '../../app/config/config-file.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import type { FindingsRequest } from '../../app/findings/find-findings.ts';
import type { OneFinding } from '../../app/findings/one-finding.ts';
import {
  changeFinding,
  explainFinding,
  findingOfTeam,
  oneFinding,
  parseFindingNumber,
  refusePart,
} from '../../app/findings/one-finding.ts';
import { checkTeam } from '../../app/known-owners.ts';
import { decideNow } from '../../app/now.ts';
import { ledgerWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import type { ReadSpace } from '../../app/workspace.ts';
import type { FindingRecord } from '../../facts/finding-record.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { explanationJson, findingExplanation } from '../../report/finding-explanation.ts';
import { findingJson, recordJson } from '../../report/finding-json.ts';
import { findingPage, recordPage } from '../../report/finding-page.ts';
import { dataFlag, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';
import type { Output } from '../output.ts';

interface FindingOptions extends CommonOptions {
  readonly until?: string;
  readonly reason?: string;
  readonly by?: string;
  readonly team?: string;
}

const VERBS = ['show', 'explain', 'accept', 'exempt', 'dismiss', 'assign', 'reopen'] as const;
type Verb = (typeof VERBS)[number];
/** Of an assignment its name is kept, and nothing else. */
const WITHOUT_REASON: readonly Verb[] = ['show', 'explain', 'assign'];

/** `bursar finding F-12`: all of one finding, and what people say of it. */
export function command(): Command {
  return withCommonOptions(new Command('finding'))
    .description(
      'All of one finding: money, owner, evidence, fix, how safe it is, what would change its mind, and its history.\n' +
        'explain shows the rows behind it; accept, exempt, dismiss, assign and reopen say what you make of it.',
    )
    .argument('<finding>', 'its number: F-12')
    .addArgument(new Argument('[verb]', 'what to do with it').choices(VERBS).default('show'))
    .argument('[to]', 'of assign: to whom')
    .option('--until <date>', 'of exempt: its last day')
    .option('--reason <text>', 'why; exempt and dismiss need it')
    .option('--by <name>', 'who says so; your user name where not said')
    .option('--team <team>', 'only what of it is this team’s; what is another’s is refused')
    .action(async (id: string, verb: Verb, to: string | undefined, options: FindingOptions, self: Command) => {
      const output = outputOf(self);
      const number = parseFindingNumber(id);
      if (verb !== 'assign' && to !== undefined) throw tooMany(to);
      if (verb !== 'exempt' && options.until !== undefined) throw onlyExempt(verb);
      if (WITHOUT_REASON.includes(verb) && options.reason !== undefined) throw saysNothing(verb, 'reason');
      if (!isDecision(verb) && options.by !== undefined) throw saysNothing(verb, 'by');
      await withReader(options.data, async (space) => {
        await checkTeam(space, { team: options.team, config: await findConfig(undefined) });
        if (!isDecision(verb)) await show(space, number, verb, options, output);
        else {
          const { team } = options;
          if (team !== undefined) {
            const asked = { ...requestOf(space, options), team, keepsNumbers: false };
            refusePart(await findingOfTeam(space, number, asked), team);
          }
          const now = decideNow(options.asOf, space.scope?.horizon, clockOf(space));
          const { until, reason, by } = options;
          const record = await changeFinding(space.dataDir, number, {
            change: verb,
            now: now.at,
            at: options.asOf ?? clockOf(space),
            ...(by !== undefined && { by }),
            ...(reason !== undefined && { reason }),
            ...(until !== undefined && { until }),
            ...(to !== undefined && { to }),
          });
          const history = space.findings.history(number);
          if (options.json) output.json({ ...recordJson(record), history });
          else output.data(recordPage(record, history, false), demoMark(space.snapshot));
        }
      });
    });
}

async function show(
  space: ReadSpace,
  number: number,
  verb: 'show' | 'explain',
  options: FindingOptions,
  output: Output,
): Promise<void> {
  const { team } = options;
  const request = { ...requestOf(space, options), ...(team !== undefined && { team }) };
  if (team !== undefined) await findingOfTeam(space, number, { ...request, team });
  const one = await oneFinding(space, number, request);
  const mark = demoMark(space.snapshot);
  if (one.now === undefined) {
    if (options.json) output.json(verb === 'explain' ? nothingOf(one.record) : savedJson(one));
    else output.data(recordPage(one.record, one.history, true), mark);
    return;
  }
  if (verb === 'explain') {
    const explained = await explainFinding(space, one.now, request);
    if (options.json) output.json(explanationJson(explained));
    else output.data(findingExplanation(explained, dataFlag(options.data)), mark);
    return;
  }
  const finding = one.now;
  if (options.json) output.json(savedJson(one));
  else output.data(findingPage(one.answer, finding, one.history, dataFlag(options.data)), mark);
}

/** The same shape whether or not it is in the window. */
function savedJson({ now, record, history }: OneFinding): object {
  return { finding: now === undefined ? null : findingJson(now), record: recordJson(record), history };
}

function nothingOf({ number }: FindingRecord): object {
  return { id: `F-${number}`, parts: [], evidence: [] };
}

function requestOf(space: ReadSpace, { asOf, window }: FindingOptions): FindingsRequest {
  const now = decideNow(asOf, space.scope?.horizon, clockOf(space));
  return { window: ledgerWindow(window, now.at, space.scope), now: now.at, nowBy: now.by };
}

function isDecision(verb: Verb): verb is Exclude<Verb, 'show' | 'explain'> {
  return verb !== 'show' && verb !== 'explain';
}

function saysNothing(verb: Verb, option: 'reason' | 'by'): OperationError {
  return new OperationError('bad-option', `${verb} takes no --${option}`, {
    hint: `It is kept with what you make of a finding: bursar finding F-12 accept --${option} ${option === 'by' ? 'mchen' : '"…"'}`,
  });
}

function onlyExempt(verb: Verb): OperationError {
  return new OperationError('bad-option', `${verb} takes no --until`, {
    hint: 'Only an exemption ends: bursar finding F-12 exempt --until 2026-12-01 --reason "…"',
  });
}

function tooMany(word: string): OperationError {
  return new OperationError('bad-option', `"${word}" is not understood here`, {
    hint: 'Only assign takes a name: bursar finding F-12 assign mchen',
  });
}
