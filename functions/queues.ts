import type { AwsEventPattern } from '#provider-kit/declaration.ts';
import { awsResources } from '#providers/declarations.ts';
import type { Use } from './route.ts';

/** One queue with its worker: the row from which CDK, the local runtime and the tests are made. */
export interface Queue {
  /** Name, prefixed when deployed. Its dead-letter queue is `<name>-dead-letters`. */
  readonly name: string;
  /** The worker's module below `functions/`, without extension. */
  readonly module: string;
  /** The module that receives what the worker could not take; it reads the dead-letter queue. */
  readonly deadLetterModule: string;
  /** Messages handed to one invocation. */
  readonly batchSize: number;
  /** Invocations at once: workers locally; deployed the most there are. */
  readonly concurrency: number;
  /** Whether, deployed, that many invocations are reserved, so that nothing else takes them. Default: they take what there is. */
  readonly isReserved?: boolean;
  /** Lambda's time-out in seconds; a worker checkpoints before it. */
  readonly timeoutSeconds: number;
  /** Seconds a received message stays hidden; the worker renews it while it works. */
  readonly visibilityTimeoutSeconds: number;
  /** Deliveries before a message goes to the dead-letter queue. */
  readonly receivesMax: number;
  /** Seconds a message is kept. */
  readonly retentionSeconds: number;
  /** What the worker talks to besides the stores, as for a route. Default `store`. */
  readonly reaches?: 'store' | 'cluster' | 'internet';
  /** What the worker does with what all functions share: its role is granted exactly this. Default: nothing. */
  readonly uses?: readonly Use[];
  /** The same for the receiver of dead letters. */
  readonly deadLetterUses?: readonly Use[];
  /** Lambda's memory of the worker in MB, from which its share of a processor follows. Default 1024. */
  readonly memoryMb?: number;
  /** Metrics of `shared/core/metrics.ts` that its worker tells, with an alarm each. Default: none. */
  readonly watchedMetrics?: readonly 'AgentLag'[];
  /** Dead letters of one reason within five minutes for which somebody is called. Default 1. */
  readonly deadLettersMax?: number;
  /** The stack that it is part of. Default `operations`. */
  readonly stack?: 'operations' | 'caching';
  /** Events of services of AWS that come as messages: from the account's bus `default`, as they are. Default: none. */
  readonly awsEvents?: readonly AwsEventPattern[];
}

/** One account whose workers die leaves one or two letters in five minutes: nobody is called for it alone. */
const cachingDeadLettersMax = 3;

/** Every queue. */
export const queues: readonly Queue[] = [
  {
    name: 'operations',
    module: 'workers/run-operations',
    deadLetterModule: 'workers/settle-dead-letters',
    batchSize: 1,
    // What people wait for has its share of the account's concurrency.
    concurrency: 20,
    isReserved: true,
    timeoutSeconds: 900,
    // Longer than the function may run, so that nobody gets a message while it is worked on. When its worker died the sweeper
    // sends another one long before this.
    visibilityTimeoutSeconds: 960,
    receivesMax: 5,
    retentionSeconds: 4 * 24 * 3600,
    reaches: 'cluster',
    uses: [
      'readAccounts',
      'readTasks',
      'writeTasks',
      'sendOperations',
      'publishEvents',
      'readCache',
      'writeCache',
      'sendAgents',
    ],
    deadLetterUses: ['readTasks', 'writeTasks', 'publishEvents'],
    // One whole virtual processor: Lambda divides them by memory.
    memoryMb: 1769,
  },
  {
    name: 'agents',
    stack: 'caching',
    module: 'workers/run-caching-agents',
    deadLetterModule: 'workers/drop-agent-messages',
    batchSize: 1,
    // Enough that accounts which hang, each with a worker to itself, leave room for the others.
    concurrency: 40,
    // Runs get 5 minutes; half a minute is left to tell what became of them.
    timeoutSeconds: 345,
    // Nobody waits for this: the scheduler sends for agents whose worker died when their lease is over.
    visibilityTimeoutSeconds: 360,
    receivesMax: 3,
    // Whatever is older was sent for again long ago.
    retentionSeconds: 3600,
    reaches: 'cluster',
    uses: ['readAccounts', 'readCache', 'writeCache', 'sendAgents', 'publishEvents'],
    awsEvents: awsResources.flatMap(({ events = [] }) => events),
    deadLetterUses: ['readCache'],
    memoryMb: 1769,
    watchedMetrics: ['AgentLag'],
    deadLettersMax: cachingDeadLettersMax,
  },
  {
    name: 'agent-streams',
    stack: 'caching',
    module: 'workers/run-agent-streams',
    deadLetterModule: 'workers/drop-stream-messages',
    batchSize: 1,
    // Each follows up to 50 agents, and while it hands over there are two of it.
    concurrency: 20,
    timeoutSeconds: 900,
    // Nobody waits for this, either.
    visibilityTimeoutSeconds: 960,
    receivesMax: 3,
    retentionSeconds: 3600,
    reaches: 'cluster',
    uses: ['readAccounts', 'readCache', 'writeCache', 'sendStreams', 'publishEvents'],
    deadLetterUses: ['readCache'],
    memoryMb: 1769,
    watchedMetrics: ['AgentLag'],
    deadLettersMax: cachingDeadLettersMax,
  },
];
