import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import { readEnvironment, variables } from '#platform/config.ts';
import { openBase } from '#platform/services/base.ts';
import { Services } from '#platform/services/services.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { runOperationsTask } from '#tasks/events/operations-worker.ts';
import { startOperations } from '#tasks/http/operations-request.ts';
import type { TaskServices } from '#tasks/services/tasks.ts';
import { sweepTasks } from '#tasks/sweep-tasks.ts';
import type { Task } from '#tasks/task.ts';
import type { ScriptedServer } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import {
  answerStatus,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { fullAccess } from '#test/support/system/request-access.ts';
import { getTaskView, messageOf, type TaskView } from '#test/support/system/task-runs.ts';
import { startTaskSystem, type TestTaskSystem } from '#test/support/system/task-system.ts';

const arn = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:busdriver-prod-config-AbCdEf';
const minute = 60_000;

let nowMs = Date.now();
let aws: AwsEndpoints;
let server: ScriptedServer;
let system: TestTaskSystem;
/** Of one process, which all tests share. */
let services: Services;
let tasks: TaskServices;

beforeAll(async () => {
  system = await startTaskSystem();
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
});

// The settings of this process are watched from the first test on: each one begins when they are to be looked at again.
beforeEach(async () => {
  turnClock(20 * minute);
  aws = await startAwsEndpoints();
  server = await startScriptedServer();
  server.script(answerStatus(404, 'NotFound'));
  vi.stubEnv(variables.configSecretArn, arn);
  vi.stubEnv(variables.tasksTable, 'tasks');
  vi.stubEnv(variables.cacheTable, 'cache');
  vi.stubEnv(variables.operationsQueueUrl, 'http://127.0.0.1:1/operations');
  vi.stubEnv(variables.agentsQueueUrl, 'http://127.0.0.1:1/agents');
  vi.stubEnv(variables.busName, 'busdriver');
  vi.stubEnv(variables.logLevel, 'SILENT');
  services ??= new Services(readEnvironment());
  tasks = { ...openBase(services), ...system };
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  await aws[Symbol.asyncDispose]();
});

/** Lets time pass for the whole process. */
function turnClock(ms: number): void {
  nowMs += ms;
  vi.setSystemTime(nowMs);
}

/** Accounts that the secret has from now on. */
function writeAccounts(...names: readonly string[]): void {
  const accounts = names.map((name) => ({ name, kubeconfigContents: server.getKubeconfig() }));
  aws.secrets.set(arn, { SecretString: JSON.stringify({ kubernetes: { accounts } }) });
}

/** A task that deletes what is not there. */
async function accept(account: string): Promise<Task> {
  const description = { account, manifestName: 'configMap web', location: 'shop' };
  const { task } = await system.store.accept({
    id: system.randomness.id(),
    requestId: '',
    account,
    accounts: [account],
    isRestricted: false,
    caller: {},
    operations: [{ provider: 'kubernetes', name: 'deleteManifest', description }],
    entry: { key: 'accept', lines: [{ phase: 'ORCHESTRATION', status: 'accepted' }] },
  });
  return task;
}

async function run(task: Task): Promise<TaskView> {
  const stop = new AbortController().signal;
  const message = { ...messageOf(task), deliveries: 1, stop, getRemainingMs: () => 900_000 };
  await runOperationsTask(message, tasks, () => openProviders(services));
  return getTaskView(system, task);
}

function isAccountKnown({ history }: TaskView): boolean {
  return history.some(({ status }) => status.startsWith('Processing op:'));
}

/** Posts the same operation as a client does. */
async function post(account: string): Promise<number> {
  const description: JsonObject = { account, manifestName: 'configMap web', location: 'shop' };
  const request = {
    findQuery: () => undefined,
    getFlag: () => false,
    caller: {},
    access: fullAccess,
    audit() {},
  };
  const context = { ...tasks, ...(await openProviders(services)) };
  const body = { body: [{ deleteManifest: description }], cloudProvider: 'kubernetes' };
  const { status } = await startOperations(request as unknown as ApiRequest, context, body);
  return status;
}

describe('an account that is new', () => {
  test('is found by a worker whose settings are older than the task', async () => {
    writeAccounts('one');
    expect(isAccountKnown(await run(await accept('one')))).toBe(true);
    writeAccounts('one', 'two');
    turnClock(11_000);
    expect(isAccountKnown(await run(await accept('two')))).toBe(true);
    expect(aws.calls).toHaveLength(2);
  });

  test('is found by who posts operations', async () => {
    writeAccounts('one');
    expect(await post('one')).toBe(200);
    writeAccounts('one', 'two');
    turnClock(11_000);
    expect(await post('two')).toBe(200);
  });

  test('that nobody knows fails the task, and is asked for once', async () => {
    writeAccounts('one');
    const views = [await run(await accept('none')), await run(await accept('none'))];
    expect(views.map(({ status }) => status.failed)).toEqual([true, true]);
    expect(views.map(isAccountKnown)).toEqual([false, false]);
    expect(JSON.stringify(views)).toContain('none');
    expect(aws.calls).toHaveLength(1);
    await expect(post('none')).rejects.toThrow('none');
  });
});

describe('settings of no use', () => {
  test('leave tasks untouched until they are mended', async () => {
    aws.secrets.set(arn, { SecretString: 'services.fiat.enabled: perhaps' });
    const task = await accept('one');
    for (let delivery = 0; delivery < 20; delivery += 1) {
      turnClock(minute);
      expect((await run(task)).status).toMatchObject({ completed: false, failed: false });
    }
    expect(await system.store.find(task.id)).toMatchObject({ attempts: 0, leaseUntilMs: 0 });
    await expect(post('one')).rejects.toThrow('services.fiat.enabled: expected true or false');

    writeAccounts('one');
    turnClock(minute);
    await sweepTasks(tasks);
    expect(await system.receiveTaskMessages()).toContain(task.id);
    expect(isAccountKnown(await run(task))).toBe(true);
  });
});
