import type { JsonObject } from '#core/json.ts';
import type { Operation, OperationRun } from '#tasks/operation.ts';
import { processTaskMessage } from '#tasks/process-message.ts';
import type { NewTask, Task } from '#tasks/task.ts';
import { toTaskView } from '#tasks/task-view.ts';
import type { TestTaskSystem } from './task-system.ts';

/** What an operation does. */
export type Work = (run: OperationRun) => Promise<object | undefined>;

/** A task as `GET /task/{id}` shows it. */
export interface TaskView {
  readonly status: { phase: string; status: string; completed: boolean; failed: boolean; retryable: boolean };
  readonly history: { phase: string; status: string }[];
  readonly resultObjects: JsonObject[];
  readonly outputs: JsonObject[];
}

/** A task of operations with these names that nobody has stored yet. */
export function toNewTask(system: Pick<TestTaskSystem, 'randomness'>, names: readonly string[]): NewTask {
  return {
    id: system.randomness.id(),
    requestId: '',
    account: 'account',
    accounts: ['account'],
    isRestricted: false,
    caller: {},
    operations: names.map((name) => ({ provider: 'test', name, description: {} })),
    entry: { key: 'accept', lines: [{ phase: 'ORCHESTRATION', status: 'accepted' }] },
  };
}

/** Stores a task of operations with these names. */
export async function acceptTask(system: TestTaskSystem, names: readonly string[]): Promise<Task> {
  const { task } = await system.store.accept(toNewTask(system, names));
  return task;
}

/** A delivered message for a task. */
export function messageOf(task: Task): { taskId: string; receiptHandle: string } {
  return { taskId: task.id, receiptHandle: 'none' };
}

/** Processes a message for a task whose operations do what `works` says by their names. */
export async function runTaskOnce(
  system: TestTaskSystem,
  task: Task,
  {
    works,
    stop,
    clusterWaitMs,
  }: { works: { [name: string]: Work }; stop?: AbortSignal; clusterWaitMs?: number },
): Promise<void> {
  await processTaskMessage(system, messageOf(task), {
    ...(clusterWaitMs && { clusters: { isReachable: async () => true, waitMs: clusterWaitMs } }),
    findOperation: async (_provider, name) => toOperation(name, works[name]),
    stop: stop ?? new AbortController().signal,
  });
}

/** An operation that does this work; undefined without work. */
export function toOperation(name: string, work: Work | undefined): Operation | undefined {
  if (work === undefined) return undefined;
  const operationClass = `Test${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const prepared = { account: 'account', applications: [], operationClass, phase: 'WORK', run: work };
  return { name, prepare: () => prepared };
}

/** Since when, and until when, a line of a history says that a task waits. */
export const waitTimes = / \(since (\S+Z), until (\S+Z) at most\)$/;

/** The lines of a task's history, without the times of waits. */
export function readLines({ history }: Pick<TaskView, 'history'>): string[] {
  return history.map(({ status }) => status.replace(waitTimes, ''));
}

/** The task as it stands. */
export async function getTaskView(system: TestTaskSystem, task: Task): Promise<TaskView> {
  const found = await system.store.find(task.id);
  if (found === undefined) throw new Error('the task is gone');
  return JSON.parse(toTaskView(found, system.clock.now())) as TaskView;
}
