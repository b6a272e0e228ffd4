import type { Accelerator } from '../facts/accelerators/accelerator.ts';
import { ACCELERATORS_AS_OF, PRECISIONS } from '../facts/accelerators/accelerator.ts';
import { textTable } from './table.ts';

const figure = (value: number | undefined): string => (value === undefined ? '–' : value.toLocaleString('en-US'));

/** A line for each accelerator; what nobody could be found to say is a dash, never a zero. */
export function acceleratorTable(accelerators: readonly Accelerator[]): string[] {
  const titles = ['GiB', 'GB/s', 'W', ...PRECISIONS];
  const lines = textTable(
    [
      { align: 'left', title: 'accelerator' },
      ...titles.map((title) => ({ align: 'right' as const, title })),
      { align: 'left', title: 'MIG' },
    ],
    accelerators.map(({ id, memoryGib, bandwidthGbS, powerW, denseTflops, migProfiles }) => [
      id,
      ...[memoryGib, bandwidthGbS, powerW, ...PRECISIONS.map((precision) => denseTflops[precision])].map(figure),
      migProfiles === undefined ? '' : `${migProfiles.length} profiles`,
    ]),
  );
  return [
    `Peak dense rates in TFLOPS (INT8: TOPS), without sparsity, as the makers state them; looked up ${ACCELERATORS_AS_OF}`,
    ...lines,
    'One of them, with its source: bursar accelerators H100',
  ];
}

/** Everything the table knows of one accelerator, with where it is from. */
export function acceleratorPage(accelerator: Accelerator): string[] {
  const { id, vendor, memoryGib, bandwidthGbS, powerW, denseTflops, migProfiles, devicesPerBoard, names, source } =
    accelerator;
  const rates = PRECISIONS.map((precision) => [
    precision,
    denseTflops[precision] === undefined
      ? 'not known'
      : `${figure(denseTflops[precision])} ${precision === 'int8' ? 'TOPS' : 'TFLOPS'}`,
  ]);
  return [
    `${id} (${vendor})`,
    ...textTable(
      [{ align: 'left' }, { align: 'left' }],
      [
        ['memory', `${figure(memoryGib)} GiB`],
        ['bandwidth', bandwidthGbS === undefined ? 'not known' : `${figure(bandwidthGbS)} GB/s`],
        ['power', powerW === undefined ? 'not known' : `${figure(powerW)} W`],
        ...rates.map(([precision = '', rate = '']) => [`${precision}, dense`, rate]),
        ['MIG profiles', migProfiles?.join(', ') ?? 'none known'],
        ...(devicesPerBoard === undefined
          ? []
          : [['devices', `the driver shows ${devicesPerBoard} for a board; the figures are of the board`]]),
        ['also called', names.join(', ')],
        ['source', `${source}; looked up ${ACCELERATORS_AS_OF}`],
      ],
    ).map((line) => `  ${line}`),
  ];
}
