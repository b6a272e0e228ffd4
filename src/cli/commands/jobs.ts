import { Command, Option } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { parseFilters } from '../../app/filter.ts';
import { JOB_SORTS, JOBS_SHOWN, listJobs } from '../../app/jobs/list-jobs.ts';
import type { JobSort } from '../../app/jobs/list-jobs.ts';
import { decideNow } from '../../app/now.ts';
import { moneyWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { jobListText, jobTotalJson, listedJobJson } from '../../report/job-list.ts';
import { outputOf } from '../output.ts';
import { withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { filterOption } from './spend.ts';

interface JobsOptions extends CommonOptions {
  readonly search?: string;
  readonly filter: readonly string[];
  readonly sort: JobSort;
  readonly top: number;
  readonly after?: string;
}

const TOP_MAX = 100_000;

/** `bursar jobs`: which jobs held GPUs, what each cost, and what came of it. */
export function command(): Command {
  return withCommonOptions(new Command('jobs'))
    .description('Which jobs held GPUs in a window, what each cost and what came of it.')
    .option('--search <text>', 'part of an id, name, user, team, cluster, node or GPU model')
    .addOption(filterOption())
    .addOption(
      new Option('--sort <order>', 'by what they cost, wasted, or when they began').choices(JOB_SORTS).default('cost'),
    )
    .addOption(new Option('--top <count>', 'so many of them').argParser(count).default(JOBS_SHOWN))
    .option('--after <id>', 'those that come after this one in the list')
    .action(async ({ window: asked, ...options }: JobsOptions, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const clock = clockOf(space);
        const now = decideNow(options.asOf, space.scope?.horizon, clock);
        const { rows, totals } = await listJobs(space, {
          window: moneyWindow(asked, now, clock, space.scope),
          now: now.at,
          search: options.search,
          team: undefined,
          filters: parseFilters(options.filter),
          sort: options.sort,
          limit: options.top,
          after: options.after,
        });
        const scope = [options.search === undefined ? '' : `that match "${options.search}"`, `in ${asked}`]
          .filter((word) => word !== '')
          .join(' ');
        if (options.json) output.json({ total: jobTotalJson(totals), rows: rows.map(listedJobJson) });
        else output.data(jobListText(rows, totals, scope), demoMark(space.snapshot));
      });
    });
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= TOP_MAX) return value;
  throw new OperationError('bad-option', `--top ${text} is not understood`, {
    hint: `A whole number from 1 to ${TOP_MAX}.`,
  });
}
