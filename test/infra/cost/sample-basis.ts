import { getOwnPrices } from '../../../infra/cost/prices.ts';
import type { Basis, Scenario } from '../../../infra/cost/scenario.ts';

/** A basis that does not change with templates and pages. */
export const sampleBasis: Basis = {
  prices: getOwnPrices(),
  counts: {
    alarmMetrics: 30,
    alarms: 30,
    dashboards: 1,
    customMetrics: 2,
    logGroups: 70,
    eventRules: 3,
    schedules: 2,
    functions: 70,
    polledQueues: 6,
    tables: 2,
    secrets: 2,
    keys: 1,
    endpoints: 1,
  },
  capacity: {
    objects: 1_000,
    applications: 10,
    firstFill: { requests: 3_000, readUnits: 2_000, writeUnits: 1_600 },
    listApplications: { requests: 1, readUnits: 2, writeUnits: 0 },
  },
};

/** A small installation. */
export const sampleScenario: Scenario = {
  accounts: 10,
  objects: 10_000,
  changesPerHour: 500,
  mode: 'adaptive',
  streamAccounts: 0,
  secrets: 0,
  deploysPerDay: 10,
  polls: 10,
  pollers: 2,
  network: 'nat',
  agents: 0,
};
