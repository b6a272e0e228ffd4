import { Command } from 'commander';
import { initConfig } from '../../app/config/init-config.ts';
import { configSchemaText } from '../../app/config/print-config.ts';
import { discover, namesSources } from '../../app/first-look/discover.ts';
import { worthKeeping } from '../../app/first-look/worth-keeping.ts';
import { thisMachine } from '../../app/first-look/surroundings.ts';
import { nothingFoundLines, notReadLines } from '../../report/first-look-lines.ts';
import { safeText } from '../../report/safe-text.ts';
import { dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';
import { withSourceOptions } from '../source-options.ts';
import type { SourceOptions } from '../source-options.ts';

interface InitFlags extends SourceOptions {
  readonly data: string;
  readonly force?: boolean;
  readonly printSchema?: boolean;
  readonly json?: boolean;
}

export function command(): Command {
  return withSourceOptions(new Command('init'))
    .description('Finds what knows about your GPUs and keeps what answers as a short bursar.yaml.')
    .option('--force', 'replace a bursar.yaml that is there')
    .option('--print-schema', 'print the JSON Schema of bursar.yaml')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (flags: InitFlags, self: Command) => {
      const output = outputOf(self);
      if (flags.printSchema) return output.data([configSchemaText().trimEnd()]);
      const chosen = await discover(flags, thisMachine());
      output.progress('asking each source how it is');
      const { kept, left } = await worthKeeping(chosen.found, namesSources(flags));
      const { missing } = chosen;
      if (kept.length === 0) {
        process.exitCode = 1;
        if (flags.json) output.json({ path: null, sources: [], left, notRead: missing });
        else output.data([...leftLines(left), ...nothingFoundLines(missing)]);
        return;
      }
      const { config: path, data, force = false } = flags;
      const written = await initConfig({ sources: kept, data, force, ...(path !== undefined && { path }) });
      const sources = kept.map(({ config: { name, kind }, by }) => ({ name, kind, by }));
      if (flags.json) return output.json({ path: written, sources, left, notRead: missing });
      output.data([
        `Written to ${written}:`,
        ...sources.map(({ name, by }) => `  ${safeText(name)}, ${safeText(by)}`),
        ...leftLines(left),
        ...notReadLines(missing),
        'Next: bursar collect; bursar collect --follow keeps it up to date. How each source is: bursar doctor',
      ]);
    });
}

function leftLines(left: readonly { readonly name: string; readonly says: string }[]): string[] {
  return left.map(
    ({ name, says }) => `Found and not kept, because it does not answer: ${safeText(name)}: ${safeText(says)}`,
  );
}
