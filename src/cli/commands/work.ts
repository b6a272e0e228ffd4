import { Command, Option } from 'commander';
import { demoMark } from '../../app/demo/demo-mark.ts';
import { knownWork } from '../../app/outcomes/known-work.ts';
import { recordWork } from '../../app/outcomes/record-work.ts';
import { withReader } from '../../app/workspace.ts';
import { recordedJson, recordedLines, workJson, workPage } from '../../report/work-page.ts';
import { dataFlag, dataOption, instant, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface WorkOptions {
  readonly data: string;
  readonly json?: boolean;
}

interface RecordOptions extends WorkOptions {
  readonly run: string;
  readonly unit: string;
  readonly quantity: string;
  readonly at?: Date;
  readonly from?: Date;
  readonly until?: Date;
  readonly job?: string;
  readonly id?: string;
}

/** `bursar work`: what was achieved, as far as somebody counted it. */
export function command(): Command {
  return new Command('work')
    .description('What was achieved, as far as it is known, and recording more of it.')
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(recordCommand());
}

function listCommand(): Command {
  return new Command('list')
    .description(
      'By run or model and unit, with volume and when it was last seen; what bursar work says without a word after it.',
    )
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: WorkOptions, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const works = await knownWork(space);
        if (options.json) output.json(workJson(works));
        else output.data(workPage(works, dataFlag(options.data)), demoMark(space.snapshot));
      });
    });
}

function recordCommand(): Command {
  const time = (option: string, words: string): Option =>
    new Option(`${option} <time>`, words).argParser((text) => instant(option, text));
  return new Command('record')
    .description('Records one piece of work. The same run, unit and time again is refused: nothing counts twice.')
    .requiredOption('--run <name>', 'the run it belongs to; a job of that name is taken to have done it')
    .requiredOption('--unit <unit>', 'step, sample, epoch, run, checkpoint, request, token, or your own word')
    .requiredOption('--quantity <number>', 'how many')
    .addOption(time('--at', 'the moment it was done by (default: now)'))
    .addOption(time('--from', 'first second of the window it was done in'))
    .addOption(time('--until', 'first second after it'))
    .option('--job <id>', 'the job or pod uid that did it')
    .option('--id <id>', 'tells it apart from other work of the run (default: the run)')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async ({ data, json, ...options }: RecordOptions, self: Command) => {
      const output = outputOf(self);
      const recorded = await recordWork({ dataDir: data, clock: new Date(), ...options });
      if (json) output.json(recordedJson(recorded));
      else output.data(recordedLines(recorded, dataFlag(data)));
    });
}
