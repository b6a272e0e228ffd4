import { Command, Option } from 'commander';
import { findConfig } from '../../app/config/config-file.ts';
import { doctor } from '../../app/doctor.ts';
import { chooseSources, configuredSources, openSources } from '../../app/first-look/chosen-sources.ts';
import { anythingWorks, doctorJson, doctorPage } from '../../report/doctor-page.ts';
import { DEFAULT_DATA_DIR } from '../folders.ts';
import { dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';
import { withSourceOptions } from '../source-options.ts';
import type { SourceOptions } from '../source-options.ts';

interface DoctorFlags extends SourceOptions {
  readonly data: string;
  readonly configured?: boolean;
  readonly json?: boolean;
}

export function command(): Command {
  return withSourceOptions(new Command('doctor'))
    .description('How each source is, what is missing, what it would sharpen and what to do. Only reads.')
    .addOption(
      new Option('--configured', 'only the sources of bursar.yaml, as the server asks them').conflicts([
        'prometheus',
        'kubeconfig',
        'slurm',
        'local',
        'aws',
      ]),
    )
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nEnds with 1 only when nothing works at all.')
    .action(async (flags: DoctorFlags, self: Command) => {
      const output = outputOf(self);
      const chosen = flags.configured ? configuredSources(await findConfig(flags.config)) : await chooseSources(flags);
      const isNamed = self.getOptionValueSource('data') === 'cli';
      output.progress('asking each source how it is');
      const report = await doctor({
        sources: await openSources(chosen),
        dataDir: isNamed ? flags.data : (chosen.config?.data ?? DEFAULT_DATA_DIR),
        now: new Date(),
        signal: new AbortController().signal,
        clocks: chosen.found.flatMap(({ config }) => (config.kind === 'prometheus' ? [config.url] : [])),
        fetch,
      });
      if (flags.json) output.json(doctorJson(report, chosen.missing));
      else output.data(doctorPage(report, chosen.missing, !flags.configured));
      const isWithout = flags.configured === true && report.sources.length === 0;
      if (!isWithout && !anythingWorks(report)) process.exitCode = 1;
    });
}
