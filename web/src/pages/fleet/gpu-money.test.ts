import { expect, it } from 'vitest';
import type { FleetReply } from '../../../../src/api/routes/fleet/fleet.ts';
import { gpuMoney } from './gpu-money.ts';

const group = (model: string | null): FleetReply['groups'][number] =>
  ({ model }) as unknown as FleetReply['groups'][number];

it.each([
  ['the models of the map, each once', ['L4', 'T4', 'L4'], undefined, 'category=unknown,model=L4|T4'],
  ['a model with a bar in its name stays one', ['A|B'], undefined, 'category=unknown,model=A\\|B'],
  ['a GPU whose model nobody said is not left out', ['L4', null], undefined, 'category=unknown'],
  ['with what the page is narrowed to', ['L4'], 'cluster=gateway', 'cluster=gateway,category=unknown,model=L4'],
])('unknown money of the map: %s', (_, models, filter, want) =>
  expect(gpuMoney(models.map(group), filter).unknown).toBe(want),
);
