import { Command, Option } from 'commander';
import { audit } from '../../app/audit.ts';
import { findConfig } from '../../app/config/config-file.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { checkTeam } from '../../app/known-owners.ts';
import { decideNow } from '../../app/now.ts';
import { ledgerWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { auditJson, auditMarkdown, auditPage } from '../../report/audit-page.ts';
import { dataFlag, flagWords, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';
import { terminalWidth } from '../terminal-width.ts';

interface AuditOptions extends CommonOptions {
  readonly team?: string;
  readonly markdown?: boolean;
}

/** `bursar audit`: the quarterly list of the forgotten, made to be sent. */
export function command(): Command {
  return withCommonOptions(
    new Command('audit')
      .description(
        'What has been forgotten, by owner and oldest first: unused sessions and resources, empty nodes, money of nobody, unused\n' +
          'commitments, exemptions that have ended or that nobody owns. Each with what to do.',
      )
      .option('--team <name>', 'only what is this team’s')
      .addOption(new Option('--markdown', 'to send, as Markdown').conflicts('json')),
    { window: '90d' },
  ).action(async (options: AuditOptions, self: Command) => {
    const output = outputOf(self);
    await withReader(options.data, async (space) => {
      const { team } = options;
      await checkTeam(space, { team, config: await findConfig(undefined) });
      const now = decideNow(options.asOf, space.scope?.horizon, clockOf(space));
      const answer = await audit(space, {
        window: ledgerWindow(options.window, now.at, space.scope),
        now,
        ...(team !== undefined && { team }),
      });
      const mark = demoMark(space.snapshot);
      const flag = dataFlag(options.data);
      if (options.json) output.json(auditJson(answer));
      else if (options.markdown) {
        const made = `bursar audit${flagWords({ team, window: options.window, 'as-of': options.asOf })}${flag}`;
        output.data(auditMarkdown(answer, { command: made, madeAt: new Date(), mark: mark.trim(), dataFlag: flag }));
      } else output.data(auditPage(answer, terminalWidth() - mark.length, flag), mark);
    });
  });
}
