import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { asJsonObject, asString } from '#core/json.ts';
import { queues } from '#functions/queues.ts';
import type { BusEvent } from '#infra/local/engines/eventbridge/bus-events.ts';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import type { PlantedSecrets } from '#test/acceptance/access/planted-secrets.ts';
import { listLive } from '#test/acceptance/tasks/faults/effects.ts';
import { findDifferences } from '#test/support/cluster/cached-cluster.ts';
import { listOpenRows } from '#test/support/engines/open-rows.ts';
import { type Stores, scanTasks } from '#test/support/engines/stores.ts';
import type { SystemTask } from '#test/support/system/system.ts';
import type { Chain } from './chains.ts';
import { refusedFills } from './engine-faults.ts';
import type { LabEnvironment } from './environment.ts';
import type { OrcaCaller } from './orca-caller.ts';

/** Share of the operations that may fail since the API server does not answer, as on a machine that is far too busy; from 0 to 1. */
const excusedShareMax = 0.1;

/** A promise, and whether it was kept. */
export interface Finding {
  readonly promise: string;
  /** How much of what was looked at, such as `500 operations`. */
  readonly checked: string;
  /** What breaks it, in words; none when it was kept. */
  readonly violations: readonly string[];
}

export interface Posting {
  readonly chain: Chain;
  readonly index: number;
  /** Undefined when it was never accepted. */
  readonly id: string | undefined;
  /** Undefined when its task did not end. */
  readonly task: SystemTask | undefined;
}

export interface AuditOptions {
  readonly environment: LabEnvironment;
  readonly postings: readonly Posting[];
  /** The same chains without faults, one of each sort. */
  readonly reference: readonly Posting[];
  /** Postings that the run is about. */
  readonly operations: number;
  readonly caller: OrcaCaller;
  readonly secrets: PlantedSecrets;
  /** How long to wait for what comes about by itself, milliseconds. */
  readonly timeoutMs: number;
}

export async function audit(options: AuditOptions): Promise<Finding[]> {
  return [
    auditTasks(options),
    await auditEffects(options),
    auditHistories(options),
    auditAnswers(options),
    await auditOpenRows(options),
    await auditQueues(options),
    auditEvents(options),
    await auditViews(options),
    await auditSecrets(options),
  ];
}

function auditTasks({ postings, operations }: AuditOptions): Finding {
  const violations = postings.flatMap(({ chain, index, id, task }) => {
    const what = `operation ${index} of ${chain.place.name}`;
    if (id === undefined) return [`${what} was never accepted`];
    if (task === undefined) return [`${what} is stuck: task ${id} has not ended`];
    return task.status.failed && !isExcused(task) ? [`${what} failed: ${describeFailure(task)}`] : [];
  });
  const excused = postings.filter(({ task }) => task !== undefined && isExcused(task)).length;
  const isRare = excused <= operations * excusedShareMax;
  if (!isRare) violations.push(`${excused} operations failed since the API server did not answer`);
  const remark = excused === 0 ? '' : `; ${excused} failed since the API server did not answer, and said so`;
  return {
    promise: 'Each accepted operation ends, and succeeds if the cluster answers',
    checked: `${postings.length} operations${remark}`,
    violations,
  };
}

/** Whether a task failed for what befell the API server, or the proxy before it: so often in a row that it was given up. */
export function isExcused(task: SystemTask): boolean {
  return task.status.failed && /refused by the test|no answer from http:/.test(describeFailure(task));
}

/** Why a task failed, in words. */
export function describeFailure({ id, resultObjects, history }: SystemTask): string {
  const exception = resultObjects.find(({ type }) => type === 'EXCEPTION');
  return `task ${id}: ${exception?.['message'] ?? JSON.stringify(history.at(-1))}`;
}

async function auditEffects({ environment, postings }: AuditOptions): Promise<Finding> {
  const { namespace } = environment;
  const live = await listLive(namespace);
  const calls = environment.listClusterCalls();
  const chains = new Set(postings.map(({ chain }) => chain));
  const violations = [...chains].flatMap(({ sort, place, operations }) => {
    const own = postings.filter(({ chain }) => chain.place === place);
    const isDone = own.length === operations.length && own.every(({ task }) => task?.status.failed === false);
    return sort.findWrongs(place, { isDone, live, calls });
  });
  return {
    promise: 'Each has its effect in the cluster exactly once',
    checked: `${chains.size} objects`,
    violations,
  };
}

/** Compares histories with those of the same operations when nothing went wrong. */
function auditHistories({ postings, reference }: AuditOptions): Finding {
  const ended = postings.filter(({ task }) => task?.status.failed === false);
  const violations = ended.flatMap(({ chain, index, task }) => {
    const same = reference.find((one) => one.chain.sort.name === chain.sort.name && one.index === index);
    const expected = toLines(same?.task, same?.chain.place.name);
    const lines = toLines(task, chain.place.name);
    const told = listWaitLines(task);
    if (new Set(told).size < told.length)
      return [`task ${task?.id} (${chain.place.name}) tells a wait more than once: ${told}`];
    if (!chain.sort.isConcurrent && JSON.stringify(lines) !== JSON.stringify(expected)) {
      return [
        `task ${task?.id} (${chain.place.name}) tells ${JSON.stringify(lines)} instead of ${JSON.stringify(expected)}`,
      ];
    }
    const results = task?.resultObjects.length;
    const expectedResults = same?.task?.resultObjects.length;
    return results === expectedResults
      ? []
      : [`task ${task?.id} has ${results} results instead of ${expectedResults}`];
  });
  return {
    promise: 'Its history and its results are complete',
    checked: `${ended.length} tasks`,
    violations,
  };
}

/** What a history says that its task waited for: each once. */
function listWaitLines(task: SystemTask | undefined): string[] {
  return (task?.history ?? []).map(({ status }) => status).filter((status) => waitLine.test(status));
}

const waitLine = /^Waiting for /;

/** How many operations waited for credentials, and for something else that came later, by names of what was injected. */
export function listWaits(postings: readonly Posting[]): [string, number][] {
  const waits = postings.map(({ task }) => listWaitLines(task));
  const count = (about: RegExp) => waits.filter((lines) => lines.some((line) => about.test(line))).length;
  return [
    [lateCredentials, count(/^Waiting for credentials/)],
    [otherWaits, count(/^Waiting for (?!credentials)/)],
  ];
}

const lateCredentials = 'operations: waited for credentials';
const otherWaits = 'operations: waited for a deletion';

/** What must have happened for the run to say anything about it. */
const expectedFaults = ['functions: clock set', lateCredentials, otherWaits, refusedFills];

/** A run in which one of these never happened says nothing about it. */
export function auditInjected(injected: ReadonlyMap<string, number>): Finding {
  const missing = expectedFaults.filter((name) => !injected.get(name));
  return {
    promise: 'The run had clock steps, late credentials, waits and refused fills',
    checked: `${expectedFaults.length} sorts of faults`,
    violations: missing.map((name) => `there was none of '${name}'`),
  };
}

/**
 * Lines of a history that do not depend on who was killed when: a worker that died right after its call leaves an object that the
 * next one truly finds unchanged, and that needs no warning any more. What is waited for is so by chance, too.
 */
function toLines(task: SystemTask | undefined, name = ''): string[] {
  const lines = (task?.history ?? []).map(({ phase, status }) => {
    const line = status
      .replaceAll(name, 'NAME')
      .replace(/\bNAME-made-\w+/g, 'NAME-made')
      .replace(/: (created|configured|unchanged)$/, ': applied');
    return `${phase} ${line}`;
  });
  return lines.filter((line) => !/^\S+ (Warning about|Waiting for) /.test(line));
}

function auditAnswers({ caller }: AuditOptions): Finding {
  const count = [...caller.answers.values()].reduce((sum, one) => sum + one, 0);
  return {
    promise: 'Callers are answered 200, or 503 with Retry-After, and the same id for the same request',
    checked: `${count} requests`,
    violations: caller.wrongs,
  };
}

async function auditOpenRows({ environment, caller, timeoutMs }: AuditOptions): Promise<Finding> {
  const rows = await until(timeoutMs, () => listOpenRows(environment.stores), isEmpty);
  const answer = await caller.call('GET', '/task');
  const running = answer?.body === '[]' ? [] : [`GET /task tells ${answer?.body}`];
  const violations = [...rows.map((row) => `the open row ${row} is left`), ...running];
  return { promise: 'Nothing is left in the list of open tasks', checked: '16 partitions', violations };
}

async function auditQueues({ environment: { stores }, timeoutMs }: AuditOptions): Promise<Finding> {
  // The queues of agents always hold the message for the next run.
  const names = ['operations', ...queues.map(({ name }) => `${name}-dead-letters`)];
  const violations = await until(timeoutMs, () => listMessages(stores, names), isEmpty);
  return { promise: 'No message is left in a queue', checked: `${names.length} queues`, violations };
}

async function listMessages(stores: Stores, names: readonly string[]): Promise<string[]> {
  const { sqs: endpoint, credentials } = stores;
  const client = new SQSClient({ endpoint, region: localRegion, credentials });
  try {
    const counts = names.map(async (name) => {
      const QueueUrl = `${endpoint}/${localAccountId}/${name}`;
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
      );
      const left = Object.entries(Attributes).filter(
        ([attribute, count]) => /^ApproximateNumberOfMessages/.test(attribute) && count !== '0',
      );
      return left.map(([attribute, count]) => `${name}: ${attribute} is ${count}`);
    });
    return (await Promise.all(counts)).flat();
  } finally {
    client.destroy();
  }
}

/** Each task's events are those that its sort has without faults; repeats are allowed, and any order over several workers. */
function auditEvents({ environment: { events }, postings, reference }: AuditOptions): Finding {
  const told = groupEvents(events);
  const ended = postings.filter(({ task }) => task !== undefined);
  const violations = ended.flatMap(({ chain, index, task }) => {
    const own = told.get(task?.id ?? '') ?? new Set();
    const same = reference.find((one) => one.chain.sort.name === chain.sort.name && one.index === index);
    const ends = ['TaskAccepted', task?.status.failed ? 'TaskFailed' : 'TaskCompleted'];
    const isComparable = !chain.sort.isConcurrent && !task?.status.failed;
    const expected = isComparable ? [...(told.get(same?.task?.id ?? '') ?? ends)] : ends;
    const missing = expected.filter((name) => !own.has(name));
    return missing.length === 0
      ? []
      : [`the bus was not told of task ${task?.id} (${chain.place.name}): ${missing.join(', ')}`];
  });
  return {
    promise: 'The bus was told of each task from its acceptance to its end',
    checked: `${events.length} events`,
    violations,
  };
}

/** What was told of each task: types of events, and steps. */
function groupEvents(events: readonly BusEvent[]): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const event of events) {
    const { taskId, step } = asJsonObject(event['detail']) ?? {};
    const id = asString(taskId);
    if (id === undefined) continue;
    const group = groups.get(id) ?? new Set<string>();
    group.add([event['detail-type'], step].filter((part) => part !== undefined).join(' '));
    groups.set(id, group);
  }
  return groups;
}

async function auditViews({ environment, timeoutMs }: AuditOptions): Promise<Finding> {
  const { namespace, stores, fleet, accounts } = environment;
  const fetchAny = (target: string, init?: RequestInit) => fetch(new URL(target, fleet.urls[0]), init);
  const differences = accounts.map(async (account) => {
    const part = { account, namespaces: [namespace] };
    const left = await until(timeoutMs, () => findDifferences({ stores, fetch: fetchAny }, part), isEmpty);
    return left.map((difference) => `account ${account}: ${difference}`);
  });
  const violations = (await Promise.all(differences)).flat();
  return { promise: 'What is cached equals the cluster', checked: `${accounts.length} accounts`, violations };
}

async function auditSecrets({ environment, secrets, postings }: AuditOptions): Promise<Finding> {
  const { logDir, credentials, events, stores } = environment;
  const names = (await readdir(logDir)).filter((name) => name.endsWith('.log'));
  const logs = names.map(async (name) => ({ name, text: await readFile(join(logDir, name), 'utf8') }));
  const places = [
    ...(await Promise.all(logs)),
    { name: 'the bus', text: JSON.stringify(events) },
    { name: 'the histories', text: JSON.stringify(postings.map(({ task }) => task)) },
    { name: 'the table of tasks', text: await scanTasks(stores) },
  ];
  const violations = places.flatMap(({ name, text }) => {
    const planted = secrets.findIn(text).map((secret) => `${name} shows the planted secret '${secret}'`);
    const opening = credentials.some((one) => text.includes(one))
      ? [`${name} shows what opens engines or cluster`]
      : [];
    return [...planted, ...opening];
  });
  const bytes = places.reduce((sum, { text }) => sum + text.length, 0);
  return {
    promise: 'No secret is told',
    checked: `${Math.round(bytes / 1_024)} KiB of logs, events and tasks`,
    violations,
  };
}

function isEmpty(list: readonly string[]): boolean {
  return list.length === 0;
}

/** What is read once it is as it should be, or when that took too long. */
async function until<T>(
  timeoutMs: number,
  read: () => Promise<T>,
  isRight: (value: T) => boolean,
): Promise<T> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isRight(value) || performance.now() > endsAtMs) return value;
    await sleep(1_000);
  }
}
