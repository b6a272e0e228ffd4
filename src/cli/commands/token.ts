import { Command, Option } from 'commander';
import { createToken, listTokens, revokeToken } from '../../app/serve/tokens.ts';
import { ROLES } from '../../facts/viewer.ts';
import { tokenJson, tokenTable } from '../../report/token-list.ts';
import { dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface CreateOptions {
  readonly data: string;
  readonly name: string;
  readonly role: string;
  readonly team?: string;
  readonly expires?: string;
  readonly json?: boolean;
}

type ListOptions = Pick<CreateOptions, 'data' | 'json'>;

/** `bursar token`: who may use a server beyond this machine. */
export function command(): Command {
  return new Command('token')
    .description('Who may ask a server, and what they may do there. A token is shown once; only its hash is kept.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function createCommand(): Command {
  return new Command('create')
    .description('Makes a token and shows it, once.')
    .requiredOption('--name <name>', 'whose it is, or what for: mchen, grafana')
    .addOption(
      new Option('--role <role>', 'viewer sees; operator also decides about findings; admin may do all')
        .choices(ROLES)
        .makeOptionMandatory(),
    )
    .option('--team <team>', 'sees this team’s money and the fleet’s totals, nothing else')
    .option('--expires <length>', 'ends by itself: 90d, 12h, never; 90d where not said')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: CreateOptions, self: Command) => {
      const output = outputOf(self);
      const { token, record } = await createToken(options.data, options, new Date());
      if (options.json) return output.json({ token, ...tokenJson(record, new Date()) });
      output.data([token]);
      output.talk(
        `T-${record.number}: shown this once; whoever has it may use it, ${untilWords(record.expiresAt)}. ` +
          `bursar token revoke T-${record.number} ends it`,
      );
    });
}

function untilWords(expiresAt: string | null): string {
  return expiresAt === null ? 'without an end' : `until ${expiresAt.slice(0, 10)} (--expires says otherwise)`;
}

function listCommand(): Command {
  return new Command('list')
    .description('Every token: whose, which role, until when.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: ListOptions, self: Command) => {
      const output = outputOf(self);
      const tokens = await listTokens(options.data);
      const now = new Date();
      if (options.json) output.json({ tokens: tokens.map((token) => tokenJson(token, now)) });
      else output.data(tokenTable(tokens, now));
    });
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('Ends a token; a running server refuses it from then on.')
    .argument('<token>', 'its name or number: grafana, T-3')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (which: string, options: ListOptions, self: Command) => {
      const output = outputOf(self);
      const revoked = await revokeToken(options.data, which, new Date());
      if (options.json) output.json(tokenJson(revoked, new Date()));
      else output.data([`T-${revoked.number} of ${revoked.name} is revoked`]);
    });
}
