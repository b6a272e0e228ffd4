import { Command, Option } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { demoScope, demoWorld } from '../../app/demo/demo-request.ts';
import type { DemoOptions } from '../../app/demo/demo-request.ts';
import { makeDemo } from '../../app/demo/make-demo.ts';
import { worldSchemaText, worldText } from '../../app/demo/world-text.ts';
import { look } from '../../app/look.ts';
import { withReader } from '../../app/workspace.ts';
import { demoBegins, demoJson, demoMade, importCommands, tryNext } from '../../report/demo-report.ts';
import { lookJson, lookScreen } from '../../report/look-screen.ts';
import { dataFlag, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';
import type { Output } from '../output.ts';
import { DEMO_DIR } from '../folders.ts';

interface DemoFlags extends DemoOptions {
  readonly out: string;
  readonly world: string;
  readonly onlyFiles?: boolean;
  readonly printWorld?: boolean;
  readonly printSchema?: boolean;
  readonly json?: boolean;
}

export function command(): Command {
  return new Command('demo')
    .description(
      'Makes up an organisation with GPUs, people, work, faulty sensors and bills, takes its facts in through the same ' +
        'door as real files, and shows the first screen. What really happened is beside them, in truth.csv.',
    )
    .option('--out <dir>', 'the data folder; the files go into files/ below it', DEMO_DIR)
    .option('--gpus <n>', 'GPUs of the fleet', '250')
    .option('--days <n>', 'days of history', '30')
    .option('--step <length>', 'time between samples: 30s, 1m, 5m', '5m')
    .option('--until <day>', 'the midnight (UTC) at which it ends', '2026-11-01')
    .option('--seed <n>', 'another number, another history of the same organisation', '1')
    .option('--world <name|file>', 'unmanaged, well-run, or a world file', 'unmanaged')
    .option('--only-files', 'write the files and take nothing in')
    .addOption(new Option('--print-world', 'print the world as a file to change').conflicts('printSchema'))
    .option('--print-schema', 'print the JSON Schema of world files')
    .addOption(jsonOption())
    .action(async (flags: DemoFlags, self: Command) => {
      const output = outputOf(self);
      if (flags.printSchema) return output.data([worldSchemaText()]);
      if (flags.printWorld) return output.data([worldText(await demoWorld(flags.world))]);
      await makeAndShow(flags, output);
    });
}

/** Makes the demo with its defaults and shows its first screen. */
export async function makeAndShowDemo(out: string, output: Output): Promise<void> {
  await makeAndShow({ ...command().opts<DemoFlags>(), out }, output);
}

/** The first screen of a demo that is there already. */
export async function showAgain(out: string, output: Output): Promise<void> {
  await withReader(out, async (space) => {
    const answer = await look(space, { window: '30d', clock: clockOf(space) });
    output.data(lookScreen(answer, dataFlag(out)), demoMark(space.snapshot));
  });
  for (const line of tryNext(dataFlag(out))) output.talk(line);
}

async function makeAndShow(flags: DemoFlags, output: Output): Promise<void> {
  const world = await demoWorld(flags.world);
  const scope = demoScope(flags, world);
  const begun = performance.now();
  const onlyFiles = flags.onlyFiles ?? false;
  output.talk(demoBegins(world.name, scope, flags.out));
  const onProgress = (words: string): void => output.progress(words);
  const report = await makeDemo({ world, scope, out: flags.out, onlyFiles, onProgress });
  for (const line of demoMade(report, Math.round((performance.now() - begun) / 1000))) output.talk(line);
  const flag = dataFlag(flags.out);
  if (onlyFiles) {
    if (flags.json) output.json(demoJson(report));
    else output.data(importCommands(report, flag));
    return;
  }
  if (flags.json) {
    await withReader(flags.out, async (space) => {
      const answer = await look(space, { window: '30d', clock: clockOf(space) });
      output.json({ ...demoJson(report), look: lookJson(answer) });
    });
    return;
  }
  output.talk('');
  await showAgain(flags.out, output);
}
