import type { Use } from './route.ts';

/** One scheduled function: the row from which CDK, the local runtime and the tests are made. */
export interface Schedule {
  readonly name: string;
  /** The function's module below `functions/`, without extension. */
  readonly module: string;
  /** Minutes between two runs, at least 1 (EventBridge's finest rate). */
  readonly rateMinutes: number;
  /** Types of our own events that have it run besides, soon after one came. Default: none. */
  readonly eventTypes?: readonly string[];
  /** Lambda's time-out in seconds. */
  readonly timeoutSeconds: number;
  /** What the function talks to besides the stores, as for a route. Default `store`. */
  readonly reaches?: 'store' | 'cluster' | 'internet';
  /** What the function does with what all functions share: its role is granted exactly this. Default: nothing. */
  readonly uses?: readonly Use[];
  /** Whether it tells, once a run, how settings and accounts are, so that alarms watch that. Default false. */
  readonly tellsOfAccounts?: boolean;
  /** Lambda's memory in MB, from which its share of a processor follows. Default 1024. */
  readonly memoryMb?: number;
  /** The stack that it is part of. Default `operations`. */
  readonly stack?: 'operations' | 'caching';
}

/** Every schedule. */
export const schedules: readonly Schedule[] = [
  {
    name: 'sweep-tasks',
    module: 'workers/sweep-tasks',
    rateMinutes: 1,
    timeoutSeconds: 50,
    uses: ['readTasks', 'writeTasks', 'sendOperations', 'publishEvents'],
  },
  {
    name: 'schedule-agents',
    stack: 'caching',
    module: 'workers/schedule-agents',
    rateMinutes: 1,
    // A new account is published and listed within seconds, and its agents are told.
    eventTypes: ['AccountDefinitionChanged'],
    timeoutSeconds: 50,
    tellsOfAccounts: true,
    // It alone has all credentials, and publishes what the others may know of the accounts.
    uses: [
      'readAccounts',
      'writeAccounts',
      'readArtifactAccounts',
      'readCache',
      'writeCache',
      'sendAgents',
      'sendStreams',
      'publishEvents',
      'tellAgents',
      'publishAccountFacts',
    ],
  },
];
