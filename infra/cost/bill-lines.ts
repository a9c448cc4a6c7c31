import type { Scenario } from './scenario.ts';
import type { TemplateCounts } from './template-counts.ts';

/** Parts of a bill, in their order, with what they are for. */
export const groups = {
  fixed: 'at rest',
  wayOut: 'way out of the VPC',
  connected: 'Gate and Fiat, all day',
  turns: 'accounts cached by turns',
  streams: 'accounts that are watched',
  accounts: 'all cached accounts',
  secrets: 'secrets with kubeconfigs',
  deploys: 'deploys',
  polls: 'questions about deploys',
  agents: 'agents that are connected',
} as const;

/** Name of a part. */
export type Group = keyof typeof groups;

/** What something costs a month, as a formula of one service. */
export interface LineRule {
  readonly group: Group;
  readonly service: string;
  readonly what: string;
  readonly formula: string;
}

type Rule = readonly [service: string, what: string, formula: string];

/** What there is to pay for. A line that cannot cost anything in the scenario is left out. */
export function listLineRules(scenario: Scenario, counts: TemplateCounts): readonly LineRule[] {
  const { network, accounts, streamAccounts, secrets, deploysPerDay, polls, pollers } = scenario;
  const leaves = network !== 'endpoints';
  const isTurned = accounts > streamAccounts;
  const parts: readonly (readonly [Group, boolean, readonly Rule[]])[] = [
    ['fixed', true, listFixed(counts)],
    ['wayOut', network === 'nat', [['VPC', 'NAT gateways', 'natGateways × hours × natHour']]],
    ['wayOut', network === 'endpoints', endpointRules],
    ['connected', pollers > 0, connectedRules],
    ['connected', pollers > 0 && accounts > 0, listingRules],
    ['turns', isTurned, turnRules],
    ['turns', isTurned && leaves, turnTrafficRules],
    ['streams', streamAccounts > 0, streamRules],
    ['accounts', accounts > 0, accountRules],
    ['accounts', accounts > 0 && leaves, accountTrafficRules],
    ['secrets', secrets > 0, secretRules],
    ['deploys', deploysPerDay > 0, deployRules],
    ['deploys', deploysPerDay > 0 && leaves, deployTrafficRules],
    ['polls', deploysPerDay > 0 && polls > 0, pollRules],
    ['agents', scenario.agents > 0, agentRules],
  ];
  return parts.flatMap(([group, isThere, rules]) =>
    isThere ? rules.map(([service, what, formula]) => ({ group, service, what, formula })) : [],
  );
}

function listFixed(counts: TemplateCounts): readonly Rule[] {
  const { alarms, customMetrics, schedules, secrets, polledQueues } = counts;
  return [
    ['KMS', 'key of tables and secrets, before its first rotation', 'keys × key'],
    [
      'Secrets Manager',
      `${secrets} secrets: the YAML, artifact accounts, what callers must know`,
      'secrets × secret',
    ],
    ['CloudWatch', `${alarms} alarms`, 'alarmMetrics × alarm'],
    [
      'CloudWatch',
      `${customMetrics} custom metrics, and those that are neither watched nor shown; those of dead letters only where there are some`,
      'customMetrics × metric + unwatchedMetrics × metric',
    ],
    ['CloudWatch', 'dashboard', 'dashboards × dashboard'],
    ['Lambda', '`sweep-tasks`, each minute', 'minutes × invocation + minutes × sweepSeconds × gbSecond'],
    ['DynamoDB', '… reads 16 shards', '16 × minutes × readUnit'],
    [
      'Lambda',
      '`schedule-agents`, each minute, the longer the more accounts there are',
      'minutes × invocation + minutes × turnSeconds × gbSecond',
    ],
    ['DynamoDB', '… reads all agents', 'listUnits × minutes × readUnit'],
    ['DynamoDB', '… looks whether the account facts have changed', 'minutes × readUnit'],
    ['Secrets Manager', '… reads both secrets', '2 × minutes × secretRequest'],
    ['KMS', '… which are encrypted', '2 × minutes × keyRequest'],
    ['X-Ray', `${schedules} schedules, each run traced`, 'schedules × minutes × trace'],
    [
      'SQS',
      `Lambda's polls of ${polledQueues} queues`,
      'polledQueues × concurrentPollers × 3 × minutes × queueRequest',
    ],
    ['VPC', 'endpoint of the API', 'endpoints × zones × hours × endpointHour'],
  ];
}

const endpointRules: readonly Rule[] = [
  [
    'VPC',
    'endpoints of SQS, EventBridge, Secrets Manager, STS and EKS',
    'endpointServices × zones × hours × endpointHour',
  ],
];

const connectedRules: readonly Rule[] = [
  ['API Gateway', 'requests', 'pollers × 4 × minutes × apiRequest'],
  [
    'Lambda',
    'functions for them',
    'pollers × 4 × minutes × invocation + pollers × 2 × minutes × credentialsSeconds × gbSecond + ' +
      'pollers × 2 × minutes × applicationsSeconds × gbSecond',
  ],
  [
    'DynamoDB',
    '… which look at the account facts, 2 functions each 20 seconds',
    '2 × 3 × minutes × readUnit',
  ],
  ['Lambda', 'the authorizer, each minute', 'minutes × invocation + minutes × authorizerSeconds × gbSecond'],
  [
    'Secrets Manager',
    '… reads both versions of its secret, each five minutes',
    '0.4 × minutes × secretRequest',
  ],
  ['X-Ray', 'traces', 'pollTraces × trace'],
  ['CloudWatch', 'access log', 'pollers × 4 × minutes × accessLogKb × logGb'],
  ['KMS', "the tables' key, of 4 functions in use", '4 × keyCalls × minutes × keyRequest'],
];

const listingRules: readonly Rule[] = [
  ['DynamoDB', 'the directory of applications, read', 'pollers × 2 × minutes × directoryUnits × readUnit'],
  [
    'VPC',
    "… and answered through the API's endpoint",
    'pollers × 2 × minutes × applicationsEach × cachedAccounts × applicationKb × endpointGb',
  ],
];

const turnRules: readonly Rule[] = [
  ['DynamoDB', 'runs: the item of the agent, claimed and given back', 'runWrites × runs × writeUnit'],
  ['DynamoDB', "… and the account's epoch", 'runReads × runs × readUnit'],
  ['SQS', 'messages: sent, received, deleted', 'sends × queueRequest + 2 × messages × queueRequest'],
  ['Lambda', 'the worker for them', 'messages × runSeconds × workerGb × gbSecond + messages × invocation'],
  ['X-Ray', '… traced', 'messageTraces × trace'],
  [
    'CloudWatch',
    'log: delays of the runs of a message, a line and an event of each run that changed something',
    'lagLogKb × messages × logGb + 2 × runLogKb × changedRuns × logGb',
  ],
  [
    'EventBridge',
    'events of these runs, archived',
    'changedRuns × event + runLogKb × changedRuns × archivedGb',
  ],
  ['Lambda', '… with changes', 'changesByTurns × changeSeconds × workerGb × gbSecond'],
  [
    'Lambda',
    'the worker, once an hour, while it compares the cache with the cluster',
    'comparedByTurns × checkSeconds × workerGb × gbSecond',
  ],
];

const turnTrafficRules: readonly Rule[] = [
  ['VPC', 'answers to runs, through a NAT gateway', 'runWireKb × runs × natGb'],
];

const streamRules: readonly Rule[] = [
  [
    'Lambda',
    'workers that never end, each for 50 accounts or fewer',
    'streamWorkers × seconds × handoverShare × workerGb × gbSecond',
  ],
  ['DynamoDB', 'progress', '2 × flushes × writeUnit'],
];

const accountRules: readonly Rule[] = [
  ['DynamoDB', 'changes: the object, its row', 'changeWrites × changes × writeUnit'],
  ['DynamoDB', '… what was there before, its owner', 'changeReads × changes × readUnit'],
  ['DynamoDB', 'the hourly check reads what is cached', 'compared × checkReads × readUnit'],
  ['DynamoDB', 'stored, restorable to each second of 35 days', 'stored × storedGb + stored × restorableGb'],
  [
    'Secrets Manager',
    'settings, read by environments that reach clusters',
    'environments × settingsReads × secretRequest',
  ],
  ['KMS', '… which are encrypted', 'environments × settingsReads × keyRequest'],
];

const accountTrafficRules: readonly Rule[] = [
  ['VPC', 'changes, through a NAT gateway', 'changeWireKb × changes × natGb'],
  ['VPC', '… lists for the hourly check', 'listWireKb × compared × natGb'],
];

const secretRules: readonly Rule[] = [
  ['Secrets Manager', 'secrets', 'kubeconfigs × secret'],
  [
    'Secrets Manager',
    '… each read again every five minutes, by one environment for all',
    'kubeconfigs × secretReads × secretRequest',
  ],
  [
    'DynamoDB',
    '… which claims that, and tells the others which version it found',
    '2 × kubeconfigs × secretReads × writeUnit + 0.5 × environments × kubeconfigs × secretReads × readUnit',
  ],
];

const deployRules: readonly Rule[] = [
  ['API Gateway', 'requests', 'operationsEach × deploys × apiRequest'],
  [
    'Lambda',
    'functions that take them, the worker',
    '2 × operationsEach × deploys × invocation + operationsEach × deploys × postSeconds × gbSecond + ' +
      'operationsEach × deploys × operationSeconds × workerGb × gbSecond',
  ],
  ['DynamoDB', 'writes of the deploy', 'deployWrites × deploys × writeUnit'],
  ['DynamoDB', 'writes of the clean-up', 'cleanUpWrites × deploys × writeUnit'],
  ['DynamoDB', 'looks at the finished tasks', 'operationsEach × deploys × taskReads × readUnit'],
  [
    'SQS',
    'messages: sent, received, deleted',
    '3 × operationsEach × deploys × queueRequest + 3 × operationsEach × deploys × fairRequest',
  ],
  [
    'EventBridge',
    'events, archived',
    'deployEvents × deploys × event + deployEvents × deploys × eventKb × archivedGb',
  ],
  [
    'CloudWatch',
    'log: events, access log, functions',
    'deployEvents × deploys × eventKb × logGb + operationsEach × deploys × accessLogKb × logGb + ' +
      'operationsEach × deploys × functionLogKb × logGb',
  ],
  ['X-Ray', 'traces of requests, of the worker', 'deployTraces × trace + operationTraces × trace'],
  [
    'DynamoDB',
    'tasks, kept for 7 days',
    'taskKb × taskMonths × deploys × storedGb + taskKb × taskMonths × deploys × restorableGb',
  ],
];

const deployTrafficRules: readonly Rule[] = [
  ['VPC', "the worker's traffic, through a NAT gateway", 'deployWireKb × deploys × natGb'],
];

const pollRules: readonly Rule[] = [
  ['API Gateway', 'requests', 'questions × apiRequest'],
  [
    'Lambda',
    'functions for them',
    'questions × invocation + taskQuestions × taskSeconds × gbSecond + manifestQuestions × manifestSeconds × gbSecond',
  ],
  ['DynamoDB', 'reads of tasks', 'taskQuestions × taskReads × readUnit'],
  [
    'CloudWatch',
    'log: access log, functions',
    'questions × accessLogKb × logGb + questions × functionLogKb × logGb',
  ],
  ['X-Ray', 'traces', 'questionTraces × trace'],
];

/** What agents cost all day, whether there is work or not. Their templates count nowhere else. */
const agentRules: readonly Rule[] = [
  ['KMS', 'key of their sessions', 'key'],
  ['API Gateway', 'connections', 'connectedMinutes × connectionMinute'],
  ['API Gateway', '… pings, and their answers', 'agentFrames × frame'],
  [
    'API Gateway',
    'calls: questions for work, leases of what they keep cached, sessions',
    'agentCalls × httpRequest',
  ],
  ['Lambda', '… functions for them', 'agentCalls × invocation + agentCalls × agentCallSeconds × gbSecond'],
  [
    'DynamoDB',
    '… questions: the session, demands, the inbox and the reads of an account; when the agent was heard of',
    'agentQuestionReads × agentQuestions × readUnit + agentQuestionWrites × agentQuestions × writeUnit',
  ],
  [
    'DynamoDB',
    '… leases: the session; the item of the agent that keeps an account cached, or refuses another one',
    'agentKeepReads × agentKeeps × readUnit + agentKeepWrites × agentKeeps × writeUnit + ' +
      'agentKeepReads × agentClaims × readUnit + agentClaims × readUnit + agentKeepWrites × agentClaims × writeUnit',
  ],
  ['KMS', '… sign tokens of sessions', 'agentRenewals × signature'],
  ['CloudWatch', 'access log', 'agentCalls × accessLogKb × logGb'],
];
