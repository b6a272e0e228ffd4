import { Command, InvalidArgumentError, Option } from 'commander';
import { findConfig } from '../../app/config/config-file.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { decideNow } from '../../app/now.ts';
import { suggestRules } from '../../app/ownership/suggest-rules.ts';
import { testRules } from '../../app/ownership/test-rules.ts';
import { moneyWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { rulesTestJson, rulesTestText } from '../../report/rules-page.ts';
import { suggestionHeadline, suggestionJson, suggestionYaml } from '../../report/rules-suggestion.ts';
import { staleText } from '../../report/spend-table.ts';
import { withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface TestOptions extends CommonOptions {
  readonly file?: string;
  readonly team?: string;
}

interface SuggestOptions extends CommonOptions {
  readonly top: number;
}

/** `bursar rules`: what the rules of bursar.yaml catch, and which would catch the rest. */
export function command(): Command {
  return new Command('rules')
    .description('Whose money is whose: what each rule of bursar.yaml catches, and which rules would catch the rest.')
    .addCommand(testCommand())
    .addCommand(suggestCommand());
}

function testCommand(): Command {
  return withCommonOptions(
    new Command('test')
      .description(
        'What share of the money has a team, what each rule catches, how shared money is split, and what no rule catches.\n' +
          'With --file, the same for rules that are not in force, and what they would move.',
      )
      .option('--file <file>', 'rules to try instead of those of ./bursar.yaml')
      .option('--team <team>', 'why this team has what it has of each shared pool'),
  ).action(async (options: TestOptions, self: Command) => {
    const output = outputOf(self);
    const tried = options.file === undefined ? undefined : (await findConfig(options.file))?.rules;
    await withReader(options.data, async (space) => {
      const clock = clockOf(space);
      const now = decideNow(options.asOf, space.scope?.horizon, clock);
      const window = moneyWindow(options.window, now, clock, space.scope);
      const test = await testRules(space, window, { book: tried ?? space.rules, team: options.team });
      const stale = staleText(space.staleRows);
      if (stale !== undefined) output.talk(stale);
      if (options.json) output.json(rulesTestJson(test));
      else output.data(rulesTestText(test), demoMark(space.snapshot));
    });
  });
}

function suggestCommand(): Command {
  return withCommonOptions(
    new Command('suggest')
      .description(
        'The fewest rules that would give most of the unattributed money a team, as YAML to paste into bursar.yaml, each with its\n' +
          'dollars and the evidence for it.',
      )
      .addOption(new Option('--top <n>', 'at most so many rules of a kind').default(10).argParser(wholeNumber)),
  ).action(async (options: SuggestOptions, self: Command) => {
    const output = outputOf(self);
    await withReader(options.data, async (space) => {
      const clock = clockOf(space);
      const now = decideNow(options.asOf, space.scope?.horizon, clock);
      const window = moneyWindow(options.window, now, clock, space.scope);
      const suggestions = await suggestRules(space, window, { top: options.top });
      const stale = staleText(space.staleRows);
      if (stale !== undefined) output.talk(stale);
      if (options.json) output.json(suggestionJson(suggestions));
      else {
        // Data on stdout is YAML, so that it can be redirected; the rest is talk.
        output.talk(suggestionHeadline(suggestions));
        output.data(suggestionYaml(suggestions));
      }
    });
  });
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a whole number from 1 to 9999');
}
