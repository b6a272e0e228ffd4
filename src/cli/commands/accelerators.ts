import { Command } from 'commander';
import { ACCELERATORS_AS_OF } from '../../facts/accelerators/accelerator.ts';
import { ACCELERATORS, acceleratorNamed } from '../../facts/accelerators.ts';
import { nearestName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { acceleratorPage, acceleratorTable } from '../../report/accelerator-list.ts';
import { jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';

export function command(): Command {
  return new Command('accelerators')
    .description('Memory, bandwidth, dense rates, power and MIG profiles of accelerators, with source and date.')
    .argument('[model]', 'one of them, by any of its names')
    .addOption(jsonOption())
    .action((model: string | undefined, { json }: { json?: boolean }, self: Command) => {
      const output = outputOf(self);
      const asOf = ACCELERATORS_AS_OF;
      if (model === undefined) {
        if (json) output.json({ asOf, accelerators: ACCELERATORS });
        else output.data(acceleratorTable(ACCELERATORS));
        return;
      }
      const accelerator = acceleratorNamed(model);
      if (accelerator === undefined) {
        const near = nearestName(
          model,
          ACCELERATORS.map(({ id }) => id),
        );
        throw new OperationError(
          'unknown-accelerator',
          `no accelerator ${model}${near === undefined ? '' : ` (nearest: ${near})`}`,
          {
            hint: 'bursar accelerators lists them all.',
          },
        );
      }
      if (json) output.json({ asOf, accelerator });
      else output.data(acceleratorPage(accelerator));
    });
}
