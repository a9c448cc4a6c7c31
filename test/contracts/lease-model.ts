import type { TaskState } from '#tasks/task.ts';

/** What a worker or somebody outside does to a task, and `wait`: a bit more than half the time of a lease passes. */
export type LeaseAction =
  | 'take'
  | 'renew'
  | 'commit'
  | 'checkpoint'
  | 'putDown'
  | 'release'
  | 'complete'
  | 'fail'
  | 'restart'
  | 'wait';

/** What is to be seen of a task. */
export interface ModelTask {
  state: TaskState;
  fence: number;
  /** Waits for which its lease holds; 0 when nobody has one. */
  waits: number;
  /** Whether its lease was given up, instead of having lapsed. */
  isGivenUp: boolean;
  attempts: number;
  run: number;
  keys: string[];
}

/** A task that was accepted just now. */
export function newModelTask(): ModelTask {
  return { state: 'STARTED', fence: 0, waits: 0, isGivenUp: true, attempts: 0, run: 0, keys: ['accept'] };
}

/** An action as the model sees it. */
export interface ModelStep {
  readonly task: ModelTask;
  /** The fence under which the worker acts. */
  readonly fence: number;
  /** Journal key of the entry, where the action writes one. */
  readonly key: string;
}

/** What each action does to a task; true when it must succeed. */
export const leaseModel: { readonly [action in LeaseAction]: (step: ModelStep) => boolean } = {
  take({ task }) {
    if (task.state !== 'STARTED' || task.waits > 0) return false;
    return change(task, { fence: task.fence + 1, attempts: task.attempts + 1, waits: 2, isGivenUp: false });
  },
  renew: (step) => isHolder(step) && !step.task.isGivenUp && change(step.task, { waits: 2 }),
  commit: (step) => isHolder(step) && write(step, { waits: 2, isGivenUp: false, attempts: 0 }),
  checkpoint: (step) => isHolder(step) && change(step.task, { waits: 0, isGivenUp: true, attempts: 0 }),
  // For less than one wait.
  putDown: (step) =>
    isHolder(step) &&
    change(step.task, { waits: 1, isGivenUp: true, attempts: 0, fence: step.task.fence + 1 }),
  release: (step) => isHolder(step) && change(step.task, { waits: 0, isGivenUp: true }),
  complete: (step) => isHolder(step) && write(step, { state: 'COMPLETED', waits: 0, attempts: 0 }),
  fail(step) {
    const { state, fence } = step.task;
    if (state !== 'STARTED') return false;
    return write(step, { state: 'FAILED_RETRYABLE', waits: 0, isGivenUp: true, fence: fence + 1 });
  },
  restart(step) {
    const { state, fence, run } = step.task;
    if (state !== 'FAILED_RETRYABLE') return false;
    return write(step, { state: 'STARTED', waits: 0, attempts: 0, fence: fence + 1, run: run + 1 });
  },
  wait: ({ task }) => change(task, { waits: Math.max(0, task.waits - 1) }),
};

/** Whoever took the last lease may go on, even after it lapsed, until somebody else takes one or ends the task. */
function isHolder({ task, fence }: ModelStep): boolean {
  return task.state === 'STARTED' && task.fence === fence;
}

function write(step: ModelStep, changes: Partial<ModelTask>): true {
  step.task.keys.push(step.key);
  return change(step.task, changes);
}

function change(task: ModelTask, changes: Partial<ModelTask>): true {
  Object.assign(task, changes);
  return true;
}
