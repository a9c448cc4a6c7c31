import type { SQSEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { queues } from '#functions/queues.ts';
import { Invoker } from '#infra/server/functions/invoker.ts';
import { startWorkers } from '#infra/server/functions/workers.ts';
import type { OperationQueue } from '#tasks/operation-queue.ts';
import { processTaskMessage, type TaskSystem } from '#tasks/process-message.ts';
import type { Task } from '#tasks/task.ts';
import { inPlaceMs } from '#tasks/wait.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { createTurnedClock } from '#test/support/run/test-clock.ts';
import { toNewTask, toOperation, type Work } from '#test/support/system/task-runs.ts';
import { startTaskSystem, type TestTaskSystem } from '#test/support/system/task-system.ts';

const waitingCount = 500;
const concurrency = queues.find(({ name }) => name === 'operations')?.concurrency ?? 0;

it(`a deploy is completed before the second look at any of ${waitingCount} waiting tasks of another account`, async () => {
  await using system = await startTaskSystem(createTurnedClock());
  const line = new DelayedLine(system);
  const on = { ...system, queue: line.queue };
  const waits = new Waits(system);
  const waiting: Task[] = [];
  for (let count = 0; count < waitingCount; count += 1) waiting.push(await post(on, 'slow', 'wait'));
  await using _ = startRunning(on, waits);
  const untilAllWait = () => expect.poll(() => waits.count).toBe(concurrency);

  await untilAllWait();
  const deploy = await post(on, 'quick', 'deploy');
  system.clock.advance(inPlaceMs);
  await expect.poll(async () => (await system.store.find(deploy.id))?.state).toBe('COMPLETED');
  expect(new Set(waits.leases.values())).toEqual(new Set([1]));

  // None is lost, and none is done twice.
  while (waits.leases.size < waitingCount) {
    await untilAllWait();
    system.clock.advance(inPlaceMs);
  }
  await expect.poll(() => waits.count).toBe(0);
  waits.areOver = true;
  system.clock.advance(1_000);
  await line.deliver();
  await expect.poll(async () => (await system.store.listOpen(1_000)).length).toBe(0);
  for (const { id } of waiting) {
    const { state, journal = [] } = (await system.store.find(id)) ?? {};
    const lines = journal.flatMap((entry) => entry.lines).filter(({ status }) => status === 'Waiting for it');
    expect([state, lines.length, waits.leases.get(id)]).toEqual(['COMPLETED', 1, 2]);
  }
});

/** Delayed messages, which come when the clock was turned. */
class DelayedLine {
  readonly queue: OperationQueue;
  readonly #system: TestTaskSystem;
  #held: { readonly dueMs: number; readonly send: () => Promise<void> }[] = [];

  constructor(system: TestTaskSystem) {
    this.#system = system;
    const { queue, clock } = system;
    this.queue = {
      ...queue,
      send: async ({ delaySeconds = 0, ...message }) => {
        if (delaySeconds === 0) return queue.send(message);
        this.#held.push({ dueMs: clock.now() + delaySeconds * 1_000, send: () => queue.send(message) });
      },
    };
  }

  async deliver(): Promise<void> {
    const held = this.#held;
    const nowMs = this.#system.clock.now();
    this.#held = held.filter(({ dueMs }) => dueMs > nowMs);
    for (const { dueMs, send } of held) if (dueMs <= nowMs) await send();
  }
}

/** What the tasks wait for. */
class Waits {
  areOver = false;
  /** How many have a worker that waits. */
  count = 0;
  /** How often each was taken. */
  readonly leases = new Map<string, number>();
  readonly #clock: TestTaskSystem['clock'];

  constructor({ clock }: TestTaskSystem) {
    this.#clock = clock;
  }

  take({ id, account }: Task): void {
    if (account === 'slow') this.leases.set(id, (this.leases.get(id) ?? 0) + 1);
  }

  readonly work: Work = async (run) => {
    const clock = this.#clock;
    const wait = { describe: () => 'it', deadlineMs: clock.now() + 600_000, clock };
    this.count += 1;
    try {
      await run.waitUntil('it', async () => this.areOver || undefined, wait);
      return {};
    } finally {
      this.count -= 1;
    }
  };
}

async function post(system: TaskSystem, account: string, name: string): Promise<Task> {
  const { task } = await system.store.accept({ ...toNewTask(system, [name]), account, accounts: [account] });
  await system.queue.send({ taskId: task.id, account });
  return task;
}

/** As many workers as there are of the queue. */
function startRunning(system: TaskSystem & Pick<TestTaskSystem, 'messages'>, waits: Waits): AsyncDisposable {
  const handler = async (event: unknown): Promise<void> => {
    for (const { body, receiptHandle } of (event as SQSEvent).Records) {
      const { taskId } = JSON.parse(body) as { taskId: string };
      await processTaskMessage(
        system,
        { taskId, receiptHandle },
        {
          findOperation: async (_provider, name) =>
            toOperation(name, name === 'wait' ? waits.work : async () => ({})),
          onLeased: (task) => waits.take(task),
          stop: new AbortController().signal,
        },
      );
    }
  };
  const { sqs, queueUrl } = system.messages;
  const source = {
    queueName: 'operations',
    queueUrl,
    module: '',
    batchSize: 1,
    concurrency,
    timeoutSeconds: 900,
  };
  return startWorkers({
    sources: [source],
    sqs,
    invoker: new Invoker(async () => handler, silentLog),
    log: silentLog,
  });
}
