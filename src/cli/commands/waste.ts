import { Command, Option } from 'commander';
import { findConfig } from '../../app/config/config-file.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { categoryNamed, filterOn, parseDimensions, parseFilters } from '../../app/filter.ts';
import { checkTeam } from '../../app/known-owners.ts';
import { decideNow } from '../../app/now.ts';
import { waste } from '../../app/waste/waste.ts';
import { moneyWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { staleText } from '../../report/spend-table.ts';
import { wasteCsv, wasteJson } from '../../report/waste/waste-data.ts';
import { wasteMarkdown } from '../../report/waste/waste-markdown.ts';
import { wastePage } from '../../report/waste/waste-page.ts';
import { dataFlag, flagWords, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';
import { terminalWidth } from '../terminal-width.ts';
import { filterOption } from './spend.ts';

interface WasteOptions extends CommonOptions {
  readonly team?: string;
  readonly by: string;
  readonly filter: readonly string[];
  readonly open?: string;
  readonly csv?: boolean;
  readonly markdown?: boolean;
}

/** `bursar waste`: where each dollar went, as bars, from the whole down to the rows. */
export function command(): Command {
  return withCommonOptions(
    new Command('waste')
      .description(
        'Where each dollar of a scope went: computing, idle, unallocated, starved, stranded, lost, unknown; why, and against the\n' +
          'window before. --open goes down into one of them: whose, of which class of work, and the dearest rows.',
      )
      .option('--team <team>', 'only this team')
      .addOption(filterOption())
      .option('--by <dimensions>', 'a bar for each: team, class, user, cluster, model …', '')
      .option(
        '--open <category>',
        'go down into computing, idle, unallocated, starved, stranded, lost, unknown or beside',
      )
      .addOption(new Option('--markdown', 'to paste, as Markdown').conflicts(['json', 'csv']))
      .addOption(new Option('--csv', 'the answer as CSV').conflicts('json')),
  ).action(async (options: WasteOptions, self: Command) => {
    const output = outputOf(self);
    const by = parseDimensions(options.by).filter(({ name }) => name !== 'category');
    const filters = [
      ...(options.team === undefined ? [] : [filterOn('team', options.team)]),
      ...parseFilters(options.filter),
    ];
    const open = options.open === undefined ? undefined : categoryNamed(options.open);
    await withReader(options.data, async (space) => {
      await checkTeam(space, { team: options.team, config: await findConfig(undefined) });
      const clock = clockOf(space);
      const now = decideNow(options.asOf, space.scope?.horizon, clock);
      const window = moneyWindow(options.window, now, clock, space.scope);
      const answer = await waste(space, { window, now, filters, by, ...(open !== undefined && { open }) });
      const stale = staleText(space.staleRows);
      if (stale !== undefined) output.talk(stale);
      const mark = demoMark(space.snapshot);
      const flag = dataFlag(options.data);
      const asked = askedWords(options, self);
      const page = {
        width: terminalWidth() - mark.length,
        dataFlag: flag,
        asked,
        askedOfFindings: askedWords({ ...options, filter: [] }, self),
        scopeFlags: scopeFlags(options),
      };
      if (options.json) output.json(wasteJson(answer));
      else if (options.csv) output.data([wasteCsv(answer).trimEnd()]);
      else if (options.markdown) {
        const made = { command: `bursar waste${asked}${flag}`, madeAt: new Date() };
        output.data(wasteMarkdown(answer, made, mark.trim()));
      } else output.data(wastePage(answer, page), mark);
    });
  });
}

/** What was asked besides what is opened, to be asked again. */
function askedWords({ team, filter, window, asOf }: WasteOptions, self: Command): string {
  const isTyped = self.getOptionValueSource('window') === 'cli';
  return flagWords({ team, filter, window: isTyped ? window : undefined, 'as-of': asOf });
}

/** The scope as `ledger explain` takes it. */
function scopeFlags({ team, filter, asOf }: WasteOptions): string {
  const texts = [...(team === undefined ? [] : [`team=${team.replaceAll(/[\\,|]/g, '\\$&')}`]), ...filter];
  return flagWords({ filter: texts, 'as-of': asOf });
}
