import { Command } from 'commander';
import { makeExample } from '../../app/example.ts';
import { exampleMark } from '../../app/example-mark.ts';
import { look } from '../../app/look.ts';
import { withReader } from '../../app/workspace.ts';
import { lookJson, lookScreen } from '../../report/look-screen.ts';
import { dataFlag, dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';

const EXAMPLE_DIR = './bursar-example';

export function command(): Command {
  return new Command('example')
    .description(
      'Makes a data folder of a made-up fleet, through the same door as real files, and shows the first screen.',
    )
    .addOption(dataOption(EXAMPLE_DIR))
    .addOption(jsonOption())
    .action(async (options: { readonly data: string; readonly json?: boolean }, self: Command) => {
      const output = outputOf(self);
      output.talk(`A made-up week of 14 GPUs goes into ${options.data}, as your own files would:`);
      await makeExample(options.data, (table, path, rows) =>
        output.talk(`  bursar import ${table} ${path}   # ${rows} rows`),
      );
      const flag = dataFlag(options.data);
      await withReader(options.data, async (space) => {
        const answer = await look(space, { window: '30d', clock: new Date() });
        if (options.json) return output.json(lookJson(answer));
        output.talk('');
        output.data(lookScreen(answer, flag), exampleMark(space.snapshot));
      });
      output.talk('');
      output.talk(`Try: bursar idle${flag}`);
      output.talk(`     bursar job 884213${flag}`);
      output.talk('Your own: bursar import samples FILE, then bursar look. README.md shows each kind of file.');
    });
}
