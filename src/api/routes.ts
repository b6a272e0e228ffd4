import type { Deed, Route } from './route.ts';
import { allocationRoutes } from './routes/spend/allocation.ts';
import { dimensionsRoute, dimensionValuesRoute } from './routes/spend/dimensions.ts';
import { FINDING_DEEDS } from './routes/findings/decide.ts';
import { findingsRoute } from './routes/findings/list-findings.ts';
import { findingRoute, findingRowsRoute } from './routes/findings/one-finding.ts';
import { fleetGpuRoute } from './routes/fleet/fleet-gpu.ts';
import { fleetTilesRoute } from './routes/fleet/fleet-tiles.ts';
import { fleetRoute } from './routes/fleet/fleet.ts';
import { gaugesRoute } from './routes/spend/gauges.ts';
import { jobRoute } from './routes/jobs/job.ts';
import { jobsRoute } from './routes/jobs/jobs.ts';
import { outcomesRoute } from './routes/spend/outcomes.ts';
import { overviewFindingsRoute } from './routes/overview/overview-findings.ts';
import { overviewRoute } from './routes/overview/overview.ts';
import { receiptRoute } from './routes/jobs/receipt.ts';
import { ruleSuggestionsRoute } from './routes/spend/rule-suggestions.ts';
import { runawayRoute } from './routes/findings/runaway.ts';
import { billsRoute } from './routes/sources/bills.ts';
import { doctorRoute } from './routes/sources/doctor.ts';
import { ledgerCheckRoute } from './routes/sources/ledger-check.ts';
import { sourcesRoute } from './routes/sources/list-sources.ts';
import { statusRoute } from './routes/sources/status.ts';
import { spendBreakdownRoute } from './routes/spend/spend-breakdown.ts';
import { spendWhyRoute } from './routes/spend/spend-why.ts';
import { spendRoute } from './routes/spend/spend.ts';
import { teamsRoute } from './routes/teams/list-teams.ts';
import { queueRoute } from './routes/teams/queue.ts';
import { teamOutcomesRoute } from './routes/teams/team-outcomes.ts';
import { statementRoute, unattributedStatementRoute } from './routes/teams/team-statement.ts';
import { wasteRoute } from './routes/spend/waste.ts';

/** Every question the server answers, in the order of the reference. */
export const ROUTES: readonly Route[] = [
  overviewFindingsRoute,
  overviewRoute,
  wasteRoute,
  spendBreakdownRoute,
  spendRoute,
  spendWhyRoute,
  dimensionValuesRoute,
  dimensionsRoute,
  ruleSuggestionsRoute,
  outcomesRoute,
  runawayRoute,
  fleetGpuRoute,
  fleetRoute,
  fleetTilesRoute,
  jobRoute,
  jobsRoute,
  receiptRoute,
  findingRoute,
  findingRowsRoute,
  findingsRoute,
  teamOutcomesRoute,
  teamsRoute,
  statementRoute,
  unattributedStatementRoute,
  queueRoute,
  sourcesRoute,
  billsRoute,
  ledgerCheckRoute,
  doctorRoute,
  statusRoute,
  ...allocationRoutes,
  gaugesRoute,
];

/** Every change that can be asked for. */
export const DEEDS: readonly Deed[] = [...FINDING_DEEDS];
