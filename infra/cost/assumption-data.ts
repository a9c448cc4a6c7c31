/** Where a number comes from: somebody measured it, the code says it, somebody published it, or it is assumed. */
export type Origin = 'measured' | 'code' | 'published' | 'assumed' | 'calendar';

/** A number that bills depend on, and that is neither a price nor chosen by an option. */
export interface Assumption {
  readonly value: number;
  readonly meaning: string;
  readonly origin: Origin;
  /** By what it was measured, in which file it stands, where it was published, or what it is assumed for. */
  readonly source: string;
}

const assume = (value: number, meaning: string, source = 'nobody has measured it in AWS'): Assumption => ({
  value,
  meaning,
  origin: 'assumed',
  source,
});
const measure = (value: number, meaning: string, source: string): Assumption => ({
  value,
  meaning,
  origin: 'measured',
  source,
});
const quote = (value: number, meaning: string, source: string): Assumption => ({
  value,
  meaning,
  origin: 'code',
  source,
});
const reckon = (value: number, meaning: string): Assumption => ({
  value,
  meaning,
  origin: 'calendar',
  source: 'a twelfth of 365 days',
});

const units = '`npm run bench -- --units`, an account of 10,000 objects in 100 applications';
const calls = '`npm run bench`, which counts the calls of a deploy, with a Deployment of 1.4 KB';

const agentCounts = '`npm run bench -- --only agents`, which counts the calls of agents from outside';

/** Every assumption by the name that formulas use. What depends on docs/capacity.md is read there, and not repeated here. */
export const assumptions = {
  hours: reckon(730, 'hours of a month'),
  minutes: reckon(0.0438, 'millions of minutes of a month'),
  seconds: reckon(2.628, 'millions of seconds of a month'),

  zones: assume(2, 'zones of each interface endpoint, one a subnet', 'what deploy.md advises'),
  natGateways: assume(1, 'NAT gateways', 'one for all zones; one in each costs so many times as much'),
  concurrentPollers: {
    value: 5,
    meaning: "Lambda's pollers of a queue without messages, 20 s a poll",
    origin: 'published',
    source: 'https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html',
  },
  environments: assume(5, 'environments of functions that reach clusters, on average, all the time'),
  keyCalls: assume(
    0.2,
    'calls of KMS a minute of each function in use, for the key of a table: one each 5 minutes',
  ),

  sweepSeconds: assume(0.1, 'seconds of a turn of `sweep-tasks`, 1 GB'),
  scheduleSeconds: assume(0.2, 'seconds of a turn of `schedule-agents` without accounts, 1 GB'),
  agentSeconds: assume(
    0.00015,
    'further seconds of it for each account',
    '10,000 agents are 12 MB to be read: 1.5 s',
  ),
  agentKb: assume(
    1.2,
    'KB of the item of an agent',
    'it takes two write units: more than 1 KB, no more than 2',
  ),

  inUse: assume(0.25, 'share of the time for which an account is in use', 'six hours a day'),
  interval: quote(
    30,
    'seconds between two runs of an account in use',
    'shared/core/agents/agent-schedule.ts',
  ),
  idleInterval: quote(
    300,
    'seconds between two runs of one that is not',
    'shared/core/agents/agent-schedule.ts',
  ),
  turnSlots: quote(6, 'moments of an interval at which turns begin', 'shared/core/agents/agent-schedule.ts'),
  agentsPerMessage: quote(25, 'agents that share a message, at most', 'shared/core/agents/agent-queue.ts'),
  messagesPerSend: quote(
    10,
    'messages that are sent with one call, at most',
    'shared/core/agents/agent-queue.ts',
  ),
  agentsPerStream: quote(
    50,
    'agents that a worker watches, at most',
    'shared/core/agents/streams/stream-queue.ts',
  ),
  concurrentFills: quote(40, 'workers of the queue `agents` at once', 'functions/queues.ts'),
  workerGb: quote(1.7275, 'GB of memory of a worker', 'functions/queues.ts'),

  runSeconds: assume(1.5, 'seconds of the worker for a message of agents without changes'),
  runWrites: measure(4, 'write units of a run: its item, claimed and given back', units),
  runReads: measure(1, "read units of a run: the account's epoch", units),
  changeWrites: measure(2.34, 'write units of a changed object: itself and its rows', units),
  changeReads: measure(2.16, 'read units of a changed object: what was there before, its rows', units),
  changeSeconds: assume(
    0.0012,
    'seconds of the worker for each changed object',
    'measured are 3.67 requests to DynamoDB; 16 are under way at once, 5 ms each',
  ),
  objectKb: assume(
    1,
    'KB of a cached object with its share of a row',
    'half a KB without the row, by `checkReads`',
  ),
  runLogKb: assume(0.6, 'KB of the log line of a run that changed something, and of its event'),
  lagLogKb: assume(0.4, 'KB of the line with which a message tells of the delays of its runs'),
  runWireKb: assume(15, 'KB that an API server answers to a run without changes'),
  changeWireKb: assume(3, 'KB that it answers for a changed object'),
  listWireKb: assume(
    0.3,
    'KB that it answers for an object in a list: 3 KB of JSON, which gzip makes a tenth of',
  ),
  checkReads: measure(0.1339, 'read units of an object that the hourly check compares', units),
  checkSeconds: assume(
    0.0004,
    'seconds of the worker for each object that the hourly check compares',
    'a first fill, which also writes, took 1.4 ms an object on two processors that ran the engine, too',
  ),
  unwatchedMetrics: quote(
    2,
    'custom metrics that no template names: `TooLarge` of two workers',
    'shared/core/metrics.ts',
  ),

  handoverShare: assume(
    1.01,
    'what a worker that watches costs, with the time in which two do: some 10 s of 15 minutes',
  ),
  flushSeconds: quote(
    5,
    "seconds between two writes of a watcher's progress, at least",
    'shared/core/agents/streams/agent-watch.ts',
  ),

  secretReads: assume(
    0.0105,
    'millions of reads a month of each secret with a kubeconfig',
    'one environment reads it for all, each 4 to 5 minutes; the others when it has changed, or they begin',
  ),
  settingsReads: assume(
    0.0219,
    'millions of reads a month of the settings, by an environment that reaches clusters',
    'one each 2 minutes',
  ),

  authorizerSeconds: assume(0.02, 'seconds of the authorizer, 1 GB'),
  credentialsSeconds: assume(0.02, 'seconds of `GET /credentials`, 1 GB'),
  applicationsSeconds: assume(0.3, 'seconds of `GET /applications`, 1 GB'),
  applicationsEach: assume(
    10,
    'applications of an account, for the directory that `GET /applications` reads',
  ),
  applicationKb: assume(0.2, 'KB of an application of an account in the answer of `GET /applications`'),
  accessLogKb: assume(0.45, 'KB of a line of the access log'),

  postSeconds: assume(0.05, 'seconds of `POST /kubernetes/ops`, 1 GB'),
  taskSeconds: assume(0.02, 'seconds of `GET /task/{id}`, 1 GB'),
  manifestSeconds: assume(0.05, 'seconds of `GET /manifests/…`, 1 GB'),
  taskPolls: assume(0.4, "share of Orca's questions that are about tasks; the others are about the manifest"),
  operationSeconds: assume(0.2, 'seconds of the worker for an operation'),
  operationsEach: measure(2, 'operations of a deploy: `deployManifest`, then `cleanupArtifacts`', calls),
  deployWrites: measure(
    18,
    'write units of the deploy: open row 1, header 4, lease 4, result 8, open row gone 1',
    calls,
  ),
  cleanUpWrites: measure(14, 'write units of the clean-up: 1, 4, 4, 4, 1', calls),
  taskReads: measure(2, 'read units of a question about a task of 8 KB', calls),
  deployEvents: measure(8, 'events of a deploy', calls),
  eventKb: assume(0.4, 'KB of an event'),
  functionLogKb: assume(0.2, 'KB that a function logs of a request'),
  taskKb: measure(9.5, 'KB of the tasks of a deploy', calls),
  taskMonths: quote(0.23, 'months for which a task is kept: 7 of 30.4 days', 'shared/core/tasks/task.ts'),
  deployWireKb: assume(60, "KB of a deploy's traffic with the API server"),

  agentReplicas: assume(
    2,
    'agents of an account, one of which keeps it cached; the others stand by',
    'docs/agents.md, "The agent"',
  ),
  agentQuestionsMinute: measure(4, 'questions for work a minute of an agent that is connected', agentCounts),
  agentKeepsMinute: measure(
    4,
    'renewals a minute of the lease on keeping an account cached in which nothing changes',
    agentCounts,
  ),
  agentClaimsMinute: measure(2, 'claims a minute of that lease by an agent that stands by', agentCounts),
  agentQuestionReads: measure(
    5,
    'reads for a question: the session, whether account facts are newer, and what waits, by three',
    agentCounts,
  ),
  agentQuestionWrites: measure(1, 'writes for it: when the agent was last heard of', agentCounts),
  agentKeepReads: assume(
    2,
    'reads for a renewal of a lease or a claim: the session, whether account facts are newer',
    'what its function does',
  ),
  agentKeepWrites: measure(2, 'write units of it: half of `runWrites`', units),
  agentPingMinutes: quote(4, 'minutes between two pings of an agent', 'infra/agent/hint-connection.ts'),
  agentRenewalMinutes: quote(
    9,
    'minutes between two renewals of a session: 0.6 of the time for which its tokens hold',
    'infra/agent/agent-session.ts',
  ),
  agentCallSeconds: assume(0.02, 'seconds of a call of an agent, 1 GB'),

  storeSeconds: assume(0.005, 'seconds of a request to DynamoDB', 'AWS promises milliseconds, of one digit'),
  concurrentWrites: quote(
    16,
    'requests to DynamoDB that a writer has under way',
    'shared/providers/kubernetes/cache-writer/writer-context.ts',
  ),
} as const satisfies { readonly [name: string]: Assumption };

/** Name of an assumption. */
export type AssumptionName = keyof typeof assumptions;
