import { Command, Option } from 'commander';
import { findConfig } from '../../app/config/config-file.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { detectorNames } from '../../app/findings/ask-detectors.ts';
import { findFindings } from '../../app/findings/find-findings.ts';
import { categoryNamed } from '../../app/filter.ts';
import { checkOwner, checkTeam } from '../../app/known-owners.ts';
import { decideNow } from '../../app/now.ts';
import { ledgerWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import type { Finding, FindingState } from '../../facts/finding.ts';
import { nearestName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { choiceOf, findingsInStates, sumOf } from '../../report/finding-answer.ts';
import { findingsJson } from '../../report/finding-json.ts';
import { findingList, toldFindings } from '../../report/finding-list.ts';
import type { FindingListOptions } from '../../report/finding-list.ts';
import { findingMessage } from '../../report/finding-message.ts';
import { recordList } from '../../report/finding-page.ts';
import { staleText } from '../../report/spend-table.ts';
import { dataFlag, flagWords, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';
import { terminalWidth } from '../terminal-width.ts';

interface FindingsOptions extends CommonOptions {
  readonly team?: string;
  readonly detector?: string;
  readonly category?: string;
  readonly owner?: string;
  readonly all?: boolean;
  readonly small?: boolean;
  readonly state?: readonly FindingState[];
  readonly slack?: boolean;
  readonly markdown?: boolean;
  readonly failOn?: FailOn;
}

type FailOn = 'any' | { readonly cashUsdMicros: bigint };

const STATES: readonly FindingState[] = ['open', 'accepted', 'back', 'exempt', 'dismissed', 'fixed'];
/** With `--fail-on`: something was found. */
const FOUND = 2;

/** `bursar findings`: what to do, safe first, then money. */
export function command(): Command {
  return withCommonOptions(new Command('findings'))
    .description(
      'What to do, safe first, then money: what is wasted, whose it is, why, how safe the fix is, and the fix to paste.\n' +
        'Bursar changes nothing itself.',
    )
    .option('--team <name>', 'only what is this team’s')
    .addOption(new Option('--detector <name>', 'only what one detector found').argParser(detectorName))
    .addOption(
      new Option('--category <name>', 'only of this category of the waterfall').argParser((text) =>
        categoryNamed(text),
      ),
    )
    .option('--owner <name>', 'only of whoever is to act: a name it was given to, a user, a team, or "team / user"')
    .option('--all', 'every finding, not only those for today')
    .option('--small', 'also each of the small ones, which are else counted together')
    .addOption(new Option('--state <states>', `only in these states: ${STATES.join(', ')}`).argParser(states))
    .addOption(new Option('--slack', 'ten lines as text of a Slack message').conflicts(['markdown', 'json']))
    .addOption(new Option('--markdown', 'ten lines as Markdown').conflicts(['json']))
    .addOption(
      new Option('--fail-on <what>', 'end with 2 on any finding, or on cash=DOLLARS or more of them').argParser(failOn),
    )
    .action(async (options: FindingsOptions, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const now = decideNow(options.asOf, space.scope?.horizon, clockOf(space));
        const window = ledgerWindow(options.window, now.at, space.scope);
        const { team } = options;
        await checkTeam(space, { team: options.team, config: await findConfig(undefined) });
        await checkOwner(space, options.owner);
        const answer = await findFindings(space, {
          window,
          now: now.at,
          nowBy: now.by,
          ...(team !== undefined && { team }),
        });
        const list = listOptions(options);
        const mark = demoMark(space.snapshot);
        const shown = options.state === undefined ? answer : findingsInStates(answer, options.state);
        if (options.json) {
          // Programs get every one; --all without --small leaves the small ones to their sum, as on the screen.
          const small = options.small === true || options.all !== true;
          const { told, folded } = toldFindings(shown, { ...list, all: true, small });
          output.json(findingsJson(shown, told, folded));
        } else if (options.slack || options.markdown)
          output.data(
            findingMessage(shown, options.slack ? 'slack' : 'markdown', {
              ...list,
              mark,
              command: commandLine(options),
            }),
          );
        else output.data(findingList(shown, { ...list, width: terminalWidth() - mark.length }), mark);
        if (options.state?.includes('fixed') && !options.json)
          output.data(recordList(space.findings.records().filter(({ state }) => state === 'fixed')), mark);
        const stale = staleText(space.staleRows);
        if (stale !== undefined) output.talk(stale);
        if (fails(toldFindings(shown, { ...list, all: true }).told, options.failOn)) process.exitCode = FOUND;
      });
    });
}

function listOptions({ data, all, small, state, ...choice }: FindingsOptions): FindingListOptions {
  const filter = choiceOf(choice);
  return {
    dataFlag: dataFlag(data),
    ...(all !== undefined && { all }),
    // Who asks for what was set aside wants to see each of it.
    ...((small === true || state?.includes('open') === false) && { small: true }),
    ...(filter !== undefined && { filter }),
  };
}

/** All that decides which findings are told, and none of how they look. */
function commandLine(options: FindingsOptions): string {
  const { data, window, asOf, team, detector, category, owner, state, all, small } = options;
  const asked = { team, detector, category, owner, state: state?.join(','), all, small, window, 'as-of': asOf };
  return `bursar findings${flagWords(asked)}${dataFlag(data)}`;
}

function states(text: string): FindingState[] {
  return text.split(',').map((word) => {
    const state = STATES.find((each) => each === word.trim());
    if (state !== undefined) return state;
    throw new OperationError('bad-option', `--state ${word} is no state of a finding`, {
      hint: `One or more of ${STATES.join(', ')}, with commas between them.`,
    });
  });
}

function failOn(text: string): FailOn {
  if (text === 'any') return 'any';
  const usd = /^cash=(\d{1,12})$/.exec(text)?.[1];
  if (usd !== undefined) return { cashUsdMicros: BigInt(usd) * 1_000_000n };
  throw new OperationError('bad-option', `--fail-on ${text} is not understood`, {
    hint: 'Either --fail-on any, or whole dollars of cash: --fail-on cash=1000.',
  });
}

function fails(findings: readonly Finding[], wish: FailOn | undefined): boolean {
  if (wish === undefined) return false;
  return wish === 'any' ? findings.length > 0 : sumOf(findings).cashUsdMicros.high >= wish.cashUsdMicros;
}

function detectorName(text: string): string {
  const known = detectorNames();
  if (known.includes(text)) return text;
  const nearest = nearestName(text, known);
  throw new OperationError('bad-option', `--detector ${text} is no detector`, {
    hint: nearest === undefined ? `One of ${known.join(', ')}.` : `Did you mean ${nearest}? All: ${known.join(', ')}.`,
  });
}
