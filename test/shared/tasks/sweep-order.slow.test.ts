import { afterAll, describe, expect, it } from 'vitest';
import { breakerFailuresMax } from '#core/breaker.ts';
import type { ItemTable } from '#platform/aws/table.ts';
import { getHeaderKey, getOpenKey, getOpenRowKey, getOpenShard } from '#tasks/aws/task-items.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { guardBus, guardQueue } from '#tasks/guarded-services.ts';
import { resendMs, type SweepCursor, sweepTasks } from '#tasks/sweep-tasks.ts';
import { staleRowAgeMs, type Task } from '#tasks/task.ts';
import { acceptTask, toNewTask } from '#test/support/system/task-runs.ts';
import { startTaskSystem, type TestTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

const accept = (): Promise<Task> => acceptTask(system, ['first']);

async function listRows(id: string): Promise<string[]> {
  const rows = await system.store.listOpen(100_000);
  return rows.filter(({ taskId }) => taskId === id).map(({ key }) => key);
}

/** Tasks that finished long ago, and whose end nobody told yet. */
async function finishTasks(count: number): Promise<void> {
  const model = await accept();
  const header = await system.table.get(getHeaderKey(model.id));
  await system.store.removeOpen(model);
  const acceptedAtMs = system.clock.now() - 3_600_000;
  const ids = Array.from({ length: count }, () => system.randomness.id());
  const writers = Array.from({ length: 20 }, async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const openRow = getOpenRowKey(id, { acceptedAtMs, random: 'x' });
      const own = { ...getHeaderKey(id), taskId: id, state: 'COMPLETED', openRow };
      await system.table.put({ ...header, ...own });
      await system.table.put({ pk: getOpenKey(getOpenShard(id)), sk: openRow, expiresAt: 9e9 });
    }
  });
  await Promise.all(writers);
}

/** A store between whose writes something else happens: after the first item that it puts, and before any header arrives. */
function interruptPut(meanwhile: () => Promise<unknown>): DynamoTaskStore {
  let happening: Promise<unknown> | undefined;
  const table: ItemTable = Object.assign(Object.create(system.table), {
    ...Object.fromEntries(
      (['get', 'query', 'update', 'delete'] as const).map((name) => [
        name,
        system.table[name].bind(system.table),
      ]),
    ),
    async put(item: Parameters<ItemTable['put']>[0]) {
      const written = system.table.put(item);
      happening ??= written.then(meanwhile);
      await Promise.all([written, happening]);
    },
    async putNew(...put: Parameters<ItemTable['putNew']>) {
      await happening;
      return system.table.putNew(...put);
    },
  });
  return new DynamoTaskStore({ table, clock: system.clock, randomness: system.randomness });
}

/** A call of what is away, which counts how often it is made. */
function countRefusals(): (() => Promise<never>) & { calls: number } {
  const refuse = Object.assign(
    async (): Promise<never> => {
      refuse.calls += 1;
      throw new Error('it is away');
    },
    { calls: 0 },
  );
  return refuse;
}

describe('a sweep while the bus is away', () => {
  it('reaches an open task behind 1,050 finished ones, and asks the bus no more than a few times', async () => {
    await finishTasks(1_050);
    const waiting = await accept();
    await system.receiveTaskMessages();
    const publish = countRefusals();
    const bus = guardBus({ publish }, system.clock);

    await sweepTasks({ ...system, bus });

    expect(await system.receiveTaskMessages()).toContain(waiting.id);
    expect(publish.calls).toBeLessThan(breakerFailuresMax + 8);
    expect(await sweepTasks(system)).toMatchObject({ settled: 1_050, failed: 0 });
  });

  it('messages before it waits for the bus', async () => {
    await finishTasks(60);
    const waiting = await accept();
    await system.receiveTaskMessages();

    void sweepTasks({ ...system, bus: { publish: () => new Promise(() => undefined) } });

    const messages: string[] = [];
    await expect
      .poll(async () => messages.push(...(await system.receiveTaskMessages())) && messages)
      .toContain(waiting.id);
    await sweepTasks(system);
  });
});

describe('a sweep while the queue is away', () => {
  it('settles what has finished', async () => {
    for (let open = 0; open < 20; open += 1) await accept();
    await finishTasks(20);
    const send = countRefusals();
    const queue = guardQueue({ ...system.queue, send }, system.clock);

    const report = await sweepTasks({ ...system, queue });

    expect(report).toMatchObject({ settled: 20, resent: 0 });
    expect(send.calls).toBeLessThan(breakerFailuresMax + 8);
  });
});

describe('a sweep whose time is over', () => {
  it('settles, and leaves the rest of the list to the next one, which begins there', async () => {
    await sweepTasks(system);
    await finishTasks(10);
    const tasks = [];
    for (let open = 0; open < 40; open += 1) tasks.push(await accept());
    await system.receiveTaskMessages();
    // Each look takes so long that a sweep has time for some twenty.
    const store = Object.assign(Object.create(system.store), {
      ...bindStore(system.store),
      async findStatus(id: string) {
        system.clock.advance(resendMs / 20);
        return system.store.findStatus(id);
      },
    });
    const position: SweepCursor = {};

    const first = await sweepTasks({ ...system, store }, position);
    expect(first.resent).toBeLessThan(40);
    expect(first.settled).toBe(10);
    for (let sweep = 0; sweep < 10 && position.after !== undefined; sweep += 1) {
      await sweepTasks({ ...system, store }, position);
    }

    expect(position.after).toBeUndefined();
    expect(await system.receiveTaskMessages()).toEqual(expect.arrayContaining(tasks.map(({ id }) => id)));
  });
});

describe('a sweep between two writes of another', () => {
  it('leaves the row of a submission whose header is about to be written', async () => {
    const store = interruptPut(() => sweepTasks(system));
    const { task } = await store.accept(toNewTask(system, ['first']));
    expect(await listRows(task.id)).toEqual([task.openRow]);
  });

  it('leaves the row of a task that is about to be submitted anew', async () => {
    const task = await accept();
    await system.store.fail(task.id, 'FAILED_RETRYABLE', { key: 'ended', lines: [] });
    const store = interruptPut(() => sweepTasks(system));

    const restarted = await store.restart(task.id, { key: 'accept', lines: [] });

    expect(restarted?.state).toBe('STARTED');
    expect(await listRows(task.id)).toEqual([restarted?.openRow]);
    await system.receiveTaskMessages();
    await sweepTasks(system);
    expect(await system.receiveTaskMessages()).toContain(task.id);
  });

  it('removes a row that nothing came after', async () => {
    const dying = interruptPut(async () => {
      throw new Error('killed');
    });
    const task = toNewTask(system, ['first']);
    await expect(dying.accept(task)).rejects.toThrow('killed');
    system.clock.advance(staleRowAgeMs - 5_000);
    await sweepTasks(system);
    expect(await listRows(task.id)).toHaveLength(1);

    system.clock.advance(5_000);
    await sweepTasks(system);

    expect(await listRows(task.id)).toEqual([]);
  });
});

/** The methods of a store, to be called as those of another object. */
function bindStore(store: TestTaskSystem['store']): object {
  const names = ['find', 'listOpen', 'removeOpen', 'removeOpenRow'] as const;
  return Object.fromEntries(names.map((name) => [name, store[name].bind(store)]));
}
