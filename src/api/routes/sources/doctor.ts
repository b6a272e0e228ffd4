import { z } from 'zod';
import { doctor } from '../../../app/doctor.ts';
import { configuredSources, openSources } from '../../../app/first-look/chosen-sources.ts';
import { doctorJson } from '../../../report/doctor-page.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { NoParams } from '../question.ts';
import { Doctor } from './doctor-shape.ts';
import type { DoctorReply } from './doctor-shape.ts';

/** Asks each source of bursar.yaml how it is. It looks for no others: a server reads what it was given. */
export const doctorRoute = route({
  path: '/api/v1/doctor',
  name: 'askDoctor',
  summary: 'How each source of bursar.yaml is, what is missing and what to do; only reads',
  page: 'sources',
  access: { role: 'operator', sees: 'fleet' },
  query: z.object({}),
  params: NoParams,
  reply: Doctor,
  command: () => 'bursar doctor --configured',
  fresh: true,
  answer: async ({ space, clock, config }) => {
    const chosen = configuredSources(config);
    const report = await doctor({
      sources: await openSources(chosen),
      dataDir: space.dataDir,
      now: clock,
      signal: new AbortController().signal,
      clocks: chosen.found.flatMap(({ config: source }) => (source.kind === 'prometheus' ? [source.url] : [])),
      fetch,
    });
    return plainJson<DoctorReply>(doctorJson(report, chosen.missing));
  },
});
