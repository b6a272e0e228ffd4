import { Command } from 'commander';
import { job } from '../../app/job.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { jobHours } from '../../app/jobs/job-hours.ts';
import { withReader } from '../../app/workspace.ts';
import { jobHoursJson } from '../../report/job-hours.ts';
import { jobJson, jobPage } from '../../report/job-page.ts';
import { asOfOption, dataFlag, dataOption, jsonOption } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';

export function command(): Command {
  return new Command('job')
    .description('What one job cost, whose it was, and a bar for each GPU: | computing, . idle, blank unknown.')
    .argument('<id>', 'its id, or source/id where two schedulers share one')
    .addOption(asOfOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (id: string, options: CommonOptions, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const answer = await job(space, { id, ...options, clock: clockOf(space) });
        if (options.json)
          output.json({ ...(jobJson(answer) as object), ...jobHoursJson(await jobHours(space, answer)) });
        else output.data(jobPage(answer, dataFlag(options.data)), demoMark(space.snapshot));
      });
    });
}
