import { assumed, code, measured, month, templates } from './assumptions.ts';
import type { Dollars } from './prices.ts';
import type { Scenario } from './scenario.ts';

/** A line of a bill, in US dollars to the cent. */
export interface BillLine {
  readonly part: string;
  readonly service: string;
  readonly what: string;
  readonly dollars: number;
}

type Line = readonly [service: string, what: string, dollars: number];

const { hours, minutes, seconds } = month;

/** What lists the lines of a part of the bill, by the part's name, in their order. */
const parts: { readonly [part: string]: (scenario: Scenario, price: Dollars) => readonly Line[] } = {
  'at rest': listFixed,
  'way out of the VPC': listWayOut,
  'Gate and Fiat, all day': listConnected,
  'accounts cached by turns': listTurns,
  'accounts that are watched': listStreams,
  'all cached accounts': listAccounts,
  'secrets with kubeconfigs': listSecrets,
  deploys: listDeploys,
  'questions about deploys': listPolls,
  'agents that are connected': listAgents,
};

/** What an installation costs a month, line by line. What costs nothing is left out. */
export function makeBill(scenario: Scenario, price: Dollars): readonly BillLine[] {
  return Object.entries(parts).flatMap(([part, list]) =>
    list(scenario, price)
      .filter(([, , dollars]) => dollars > 0)
      .map(([service, what, dollars]) => ({ part, service, what, dollars: round(dollars) })),
  );
}

/** What lines cost together. Added up in cents, so that whoever adds them up gets the same. */
export function sum(lines: readonly BillLine[]): number {
  return round(lines.reduce((dollars, line) => dollars + line.dollars, 0));
}

/** What lines cost together, by part or by service. */
export function sumBy(lines: readonly BillLine[], key: 'part' | 'service') {
  const groups = [...Map.groupBy(lines, (line) => line[key])];
  return Object.fromEntries(groups.map(([name, own]) => [name, sum(own)]));
}

function round(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}

/** What is there all the time, whether anybody calls or not. */
function listFixed({ accounts }: Scenario, price: Dollars): readonly Line[] {
  const { alarms, customMetrics, polledQueues, secrets } = templates;
  const sweepDollars = price.invocation + assumed.sweepSeconds * price.gbSecond;
  const scheduleSeconds = assumed.scheduleSeconds + assumed.agentSeconds * accounts;
  const scheduleDollars = price.invocation + scheduleSeconds * price.gbSecond;
  // Eventually consistent, at half the price; each of 16 shards costs half a unit at least.
  const listUnits = Math.max(8, (0.5 * assumed.agentKb * accounts) / 4);
  const polls = polledQueues * assumed.concurrentPollers * 3 * minutes;
  return [
    ['KMS', 'key of tables and secrets, before its first rotation', price.key],
    ['Secrets Manager', `${secrets} secrets: YAML, artifact accounts, callers`, secrets * price.secret],
    ['CloudWatch', `${alarms} alarms`, alarms * price.alarm],
    ['CloudWatch', `${customMetrics} custom metrics`, customMetrics * price.metric],
    ['CloudWatch', 'dashboard', price.dashboard],
    ['Lambda', 'sweep-tasks, each minute', minutes * sweepDollars],
    ['DynamoDB', '… reads 16 shards', 16 * minutes * price.readUnit],
    ['Lambda', 'schedule-agents, each minute', minutes * scheduleDollars],
    ['DynamoDB', '… reads all agents', listUnits * minutes * price.readUnit],
    ['DynamoDB', '… looks whether the account facts have changed', minutes * price.readUnit],
    ['Secrets Manager', '… reads both secrets', 2 * minutes * price.secretRequest],
    ['KMS', '… which are encrypted', 2 * minutes * price.keyRequest],
    ['X-Ray', '2 schedules, each run traced', 2 * minutes * price.trace],
    ['SQS', `Lambda's polls of ${polledQueues} queues`, polls * price.queueRequest],
    ['VPC', 'endpoint of the API', assumed.zones * hours * price.endpointHour],
  ];
}

/** What lets functions out of the VPC, whatever they send. */
function listWayOut({ network }: Scenario, price: Dollars): readonly Line[] {
  if (network === 'nat') return [['VPC', 'NAT gateway', hours * price.natHour]];
  if (network === 'existing') return [];
  const services = ['SQS', 'EventBridge', 'Secrets Manager', 'STS', 'EKS'];
  const dollars = services.length * assumed.zones * hours * price.endpointHour;
  return [['VPC', `endpoints of ${services.join(', ')}`, dollars]];
}

/** What Gate and Fiat cost, which ask for credentials and applications each 30 seconds. */
function listConnected({ accounts, pollers }: Scenario, price: Dollars): readonly Line[] {
  if (pollers === 0) return [];
  const { lookSeconds, applicationsSeconds, applicationsEach } = assumed;
  const listings = 2 * pollers * minutes;
  const requests = 2 * listings;
  const gbSeconds = listings * (lookSeconds + applicationsSeconds);
  const authorizerDollars = price.invocation + lookSeconds * price.gbSecond;
  // The directory, and how fresh each account is.
  const directoryUnits = accounts * (applicationsEach * measured.directoryReads + assumed.agentKb / 8);
  const answeredKb = listings * applicationsEach * accounts * assumed.applicationKb;
  return [
    ['API Gateway', 'requests', requests * price.apiRequest],
    ['Lambda', 'functions for them', requests * price.invocation + gbSeconds * price.gbSecond],
    ['DynamoDB', '… 2 look at the account facts each 20 seconds', 2 * 3 * minutes * price.readUnit],
    ['Lambda', 'the authorizer, each minute', minutes * authorizerDollars],
    ['Secrets Manager', '… reads both versions of its secret', 0.4 * minutes * price.secretRequest],
    ['X-Ray', 'traces', countTraces(requests) * price.trace],
    ['CloudWatch', 'access log', requests * assumed.accessLogKb * price.logGb],
    ['KMS', "the tables' key, of 4 functions", 4 * assumed.keyCalls * minutes * price.keyRequest],
    ['DynamoDB', 'the directory of applications, read', listings * directoryUnits * price.readUnit],
    ['VPC', "… and answered through the API's endpoint", answeredKb * price.endpointGb],
  ];
}

/** What it costs to look what has changed, in accounts that are not watched. */
function listTurns(scenario: Scenario, price: Dollars): readonly Line[] {
  const { accounts, streamAccounts, objects, changesPerHour, mode } = scenario;
  const turned = accounts - streamAccounts;
  const inUse = mode === 'interval' ? 1 : assumed.inUse;
  const turnsInUse = seconds / code.interval;
  const turnsIdle = seconds / code.idleInterval;
  const runsEach = inUse * turnsInUse + (1 - inUse) * turnsIdle;
  const runs = turned * runsEach;
  const changes = turned * toMonth(changesPerHour);
  const changedRuns = turned * Math.min(runsEach, toMonth(changesPerHour));
  const messages =
    turnsInUse * countMessages(turned * inUse) + turnsIdle * countMessages(turned * (1 - inUse));
  // One call a minute at least.
  const sends = Math.max(Math.min(messages, minutes), messages / code.messagesPerSend);
  const workerSecond = code.workerGb * price.gbSecond;
  const messageDollars = assumed.runSeconds * workerSecond + price.invocation;
  const checkSeconds = turned * toMonth(objects) * assumed.checkSeconds;
  const logKb = assumed.lagLogKb * messages + 2 * assumed.runLogKb * changedRuns;
  const eventDollars = price.event + assumed.runLogKb * price.archivedGb;
  return [
    ['DynamoDB', "runs: the agent's item, twice", measured.runWrites * runs * price.writeUnit],
    ['DynamoDB', "… and the account's epoch", runs * price.readUnit],
    ['SQS', 'messages: sent, received, deleted', (sends + 2 * messages) * price.queueRequest],
    ['Lambda', 'the worker for them', messages * messageDollars],
    ['X-Ray', '… traced', countTraces(messages) * price.trace],
    ['CloudWatch', 'log: delays, and twice each run that changed something', logKb * price.logGb],
    ['EventBridge', 'events of these runs, archived', changedRuns * eventDollars],
    ['Lambda', 'the worker for changes', changes * assumed.changeSeconds * workerSecond],
    ['Lambda', 'the worker compares, once an hour, the cache with the cluster', checkSeconds * workerSecond],
    ['VPC', 'answers to runs, by a NAT gateway', assumed.runWireKb * runs * getNatGb(scenario, price)],
  ];
}

/** Messages for the agents of so many accounts in an interval: those of a slot share them. */
function countMessages(accounts: number): number {
  const slots = code.turnSlots * (1 - (1 - 1 / code.turnSlots) ** accounts);
  return Math.max(accounts / code.agentsPerMessage, Math.min(accounts, slots));
}

/** What it costs to watch accounts. */
function listStreams({ streamAccounts, changesPerHour }: Scenario, price: Dollars): readonly Line[] {
  const workers = Math.ceil(streamAccounts / code.agentsPerStream);
  const gbSeconds = workers * seconds * assumed.handoverShare * code.workerGb;
  // After each write it takes the pause and then until the next change; bookmarks are stored each minute.
  const flushes = changesPerHour === 0 ? 0 : seconds / (code.flushSeconds + 3600 / changesPerHour);
  return [
    ['Lambda', 'workers that never end, each for 50 accounts or fewer', gbSeconds * price.gbSecond],
    ['DynamoDB', 'progress', 2 * streamAccounts * (flushes + minutes) * price.writeUnit],
  ];
}

/** What cached accounts cost, watched or not. */
function listAccounts(scenario: Scenario, price: Dollars): readonly Line[] {
  const { accounts, objects, changesPerHour } = scenario;
  if (accounts === 0) return [];
  const { changeWrites, changeReads, checkReads } = measured;
  const changes = accounts * toMonth(changesPerHour);
  const compared = accounts * toMonth(objects);
  const storedGb = (accounts * objects * assumed.objectKb) / 1e6;
  const settingsReads = assumed.environments * (minutes / 2);
  const natGb = getNatGb(scenario, price);
  return [
    ['DynamoDB', 'changes: the object, its row', changeWrites * changes * price.writeUnit],
    ['DynamoDB', '… what was there before, its owner', changeReads * changes * price.readUnit],
    ['DynamoDB', 'the hourly check reads what is cached', compared * checkReads * price.readUnit],
    ['DynamoDB', 'stored, restorable for 35 days', storedGb * (price.storedGb + price.restorableGb)],
    ['Secrets Manager', 'settings, read by environments', settingsReads * price.secretRequest],
    ['KMS', '… which are encrypted', settingsReads * price.keyRequest],
    ['VPC', 'changes, by a NAT gateway', assumed.changeWireKb * changes * natGb],
    ['VPC', '… lists for the hourly check', assumed.listWireKb * compared * natGb],
  ];
}

/** What kubeconfigs in Secrets Manager cost. One environment claims to read each again, for all others. */
function listSecrets({ secrets }: Scenario, price: Dollars): readonly Line[] {
  const reads = secrets * assumed.secretReads;
  const claims = 2 * reads * price.writeUnit + 0.5 * assumed.environments * reads * price.readUnit;
  return [
    ['Secrets Manager', 'secrets', secrets * price.secret],
    ['Secrets Manager', '… each read again every five minutes', reads * price.secretRequest],
    ['DynamoDB', '… by one environment for all', claims],
  ];
}

/** Millions of deploys, of the operations that they are, of questions about them, and of the traces of both. */
function countDeploys({ deploysPerDay, polls, pollers }: Scenario) {
  const deploys = toMonth(deploysPerDay / 24);
  const operations = measured.operationsEach * deploys;
  const questions = deploys * polls;
  const asked = operations + questions;
  const polled = 4 * pollers * minutes;
  const traces = countTraces(polled + asked) - countTraces(polled);
  const questionTraces = asked === 0 ? 0 : (questions / asked) * traces;
  return { deploys, operations, questions, questionTraces, operationTraces: traces - questionTraces };
}

/** What deploys cost: their operations, from the request to the record. */
function listDeploys(scenario: Scenario, price: Dollars): readonly Line[] {
  const { deploys, operations, operationTraces } = countDeploys(scenario);
  const { deployWrites, cleanUpWrites, taskReads } = measured;
  const gbSeconds = assumed.requestSeconds + assumed.operationSeconds * code.workerGb;
  const operationDollars = 2 * price.invocation + gbSeconds * price.gbSecond;
  const events = measured.deployEvents * deploys;
  const eventDollars = price.event + assumed.eventKb * price.archivedGb;
  const logKb = events * assumed.eventKb + operations * (assumed.accessLogKb + assumed.functionLogKb);
  const traces = operationTraces + countTraces(operations);
  const storedGb = measured.taskKb * code.taskMonths * deploys;
  const wireKb = assumed.deployWireKb * deploys;
  return [
    ['API Gateway', 'requests', operations * price.apiRequest],
    ['Lambda', 'functions that take them, the worker', operations * operationDollars],
    ['DynamoDB', 'writes of the deploy', deployWrites * deploys * price.writeUnit],
    ['DynamoDB', 'writes of the clean-up', cleanUpWrites * deploys * price.writeUnit],
    ['DynamoDB', 'looks at the finished tasks', operations * taskReads * price.readUnit],
    ['SQS', 'sent, received, deleted', 3 * operations * (price.queueRequest + price.fairRequest)],
    ['EventBridge', 'events, archived', events * eventDollars],
    ['CloudWatch', 'log: events, access log, functions', logKb * price.logGb],
    ['X-Ray', 'traces of requests, of the worker', traces * price.trace],
    ['DynamoDB', 'tasks, kept for 7 days', storedGb * (price.storedGb + price.restorableGb)],
    ['VPC', "the worker's traffic, by a NAT gateway", wireKb * getNatGb(scenario, price)],
  ];
}

/** What Orca's questions cost about deploys that are not stable yet. */
function listPolls(scenario: Scenario, price: Dollars): readonly Line[] {
  const { questions, questionTraces } = countDeploys(scenario);
  const { taskPolls, lookSeconds, requestSeconds, accessLogKb, functionLogKb } = assumed;
  const secondsEach = taskPolls * lookSeconds + (1 - taskPolls) * requestSeconds;
  return [
    ['API Gateway', 'requests', questions * price.apiRequest],
    ['Lambda', 'functions for them', questions * (price.invocation + secondsEach * price.gbSecond)],
    ['DynamoDB', 'reads of tasks', taskPolls * questions * measured.taskReads * price.readUnit],
    ['CloudWatch', 'log: access log, functions', questions * (accessLogKb + functionLogKb) * price.logGb],
    ['X-Ray', 'traces', questionTraces * price.trace],
  ];
}

/** What agents cost all day, whether there is work or not. Their templates count nowhere else. */
function listAgents({ agents }: Scenario, price: Dollars): readonly Line[] {
  if (agents === 0) return [];
  const { readUnit, writeUnit } = price;
  const connected = agents * minutes;
  const pings = connected / code.agentPingMinutes;
  // Of each account's agents one keeps it cached.
  const keeping = connected / assumed.agentReplicas;
  const questions = connected * measured.agentQuestionsMinute;
  const keeps = keeping * measured.agentKeepsMinute;
  const claims = (connected - keeping) * measured.agentClaimsMinute;
  const renewals = connected / code.agentRenewalMinutes;
  const calls = questions + keeps + claims + renewals;
  const callDollars = price.invocation + assumed.lookSeconds * price.gbSecond;
  const questionDollars = measured.agentQuestionReads * readUnit + writeUnit;
  const keepDollars = assumed.agentKeepReads * readUnit + (measured.runWrites / 2) * writeUnit;
  return [
    ['KMS', 'key of their sessions', price.key],
    ['API Gateway', 'connections', connected * price.connectionMinute],
    ['API Gateway', '… pings, and their answers', 2 * pings * price.frame],
    ['API Gateway', 'calls: questions for work, leases, sessions', calls * price.httpRequest],
    ['Lambda', '… functions for them', calls * callDollars],
    ['DynamoDB', '… questions for work', questions * questionDollars],
    // A claim reads the item of the agent besides.
    ['DynamoDB', '… leases', keeps * keepDollars + claims * (keepDollars + readUnit)],
    ['KMS', '… sign tokens of sessions', renewals * price.signature],
    ['CloudWatch', 'access log', calls * assumed.accessLogKb * price.logGb],
  ];
}

/** Millions a month of what comes so often an hour. */
function toMonth(hourly: number): number {
  return (hourly * month.hours) / 1e6;
}

/** Millions of traces of so many requests that come by chance: X-Ray records the first of each second, and 5 % of the others. */
function countTraces(requests: number): number {
  const first = month.seconds * (1 - Math.exp(-requests / month.seconds));
  return first + 0.05 * (requests - first);
}

/** What a GB costs on its way to a cluster. Where there is no NAT gateway, that way is not ours. */
function getNatGb({ network }: Scenario, price: Dollars): number {
  return network === 'endpoints' ? 0 : price.natGb;
}
