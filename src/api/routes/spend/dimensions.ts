import { z } from 'zod';
import { dimensionValues } from '../../../app/breakdown/dimension-values.ts';
import { DIMENSIONS } from '../../../app/filter.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Micros, NoParams, Team } from '../question.ts';
import { filtersOf } from '../scope.ts';

const Names = z.object({
  dimensions: z.array(
    z.object({
      name: z.string(),
      isListed: z.boolean().meta({ description: 'False where it has as many values as there are nodes or jobs' }),
    }),
  ),
});
export type DimensionsReply = z.infer<typeof Names>;

export const dimensionsRoute = route({
  path: '/api/v1/dimensions',
  name: 'listDimensions',
  summary: 'What money can be grouped and filtered by',
  page: 'spend',
  access: { role: 'viewer', sees: 'totals' },
  query: z.object({}),
  params: NoParams,
  reply: Names,
  answer: () =>
    Promise.resolve({
      dimensions: DIMENSIONS.map(({ name, spendDayColumn }) => ({
        name,
        isListed: spendDayColumn !== undefined && name !== 'day',
      })),
    }),
});

const Values = z.object({
  dimension: z.string(),
  isListed: z.boolean(),
  values: z
    .array(z.object({ value: z.string().nullable(), firstDay: z.string(), usdMicros: Micros.nullable() }))
    .meta({ description: 'In the order in which they first cost something; what nobody can say last' }),
  isTruncated: z.boolean(),
});
export type DimensionValuesReply = z.infer<typeof Values>;

export const dimensionValuesRoute = route({
  path: '/api/v1/dimensions/{dimension}',
  name: 'listDimensionValues',
  summary: 'Which values a dimension has in the whole ledger',
  page: 'spend',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({ asOf: AsOf, team: Team }),
  params: z.object({ dimension: z.string() }),
  reply: Values,
  answer: async ({ space, now, query, params }) =>
    plainJson<DimensionValuesReply>(
      await dimensionValues(space, { dimension: params.dimension, filters: filtersOf(query), now: now.at }),
    ),
});
