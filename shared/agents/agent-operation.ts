import { listAsked } from '#tasks/list-tasks.ts';
import { isFinished, type OpenRow, type Task } from '#tasks/task.ts';
import { endedKey } from '#tasks/tell-task.ts';

/** Tasks that agents were to run: rows like those of the list of open tasks, to be verified like these. */
export interface AgentTaskList {
  /** The newest rows of the last seven days, the newest first. */
  list(limit: number): Promise<readonly OpenRow[]>;
}

/** The place and time of a part of a task's way. */
interface PlaceAndTime {
  readonly clouddriverId?: string | undefined;
  readonly time: string;
}

/** The outcome of a task for agents. Unknown members are missing; times are those of ISO 8601. */
export interface AgentOperationView {
  readonly operationId: string;
  readonly account: string;
  /** Names of its operations, separated by commas. */
  readonly operationType: string;
  readonly startTime: string;
  readonly endTime?: string;
  readonly totalDurationMs?: number;
  readonly opReceivedByClouddriver: PlaceAndTime;
  /** The agent that took it last. */
  readonly opSentToAgent?: { readonly agentId: string; readonly time: string };
  readonly resultReceivedFromAgent?: PlaceAndTime & {
    readonly agentId: string;
    readonly result: { readonly status: string; readonly durationMs: number };
  };
  /** `COMPLETED` or `FAILED`; missing while it is open. */
  readonly finalOutcome?: string;
}

/** Whether agents were to run a task, or a part of it. */
export function isOfAgents(task: Pick<Task, 'inbox' | 'parts'>): boolean {
  return findAccount(task) !== undefined;
}

/** The account whose agents run it, or run it first. */
function findAccount({ inbox, parts = [] }: Pick<Task, 'inbox' | 'parts'>): string | undefined {
  const first = parts.find((part) => part.inbox !== undefined);
  return (first?.inbox ?? inbox)?.account;
}

/** A task as operators see it. @param clouddriverId who accepted it, and was handed its result; undefined where it may be any of several */
export function toAgentOperation(task: Task, clouddriverId: string | undefined): AgentOperationView {
  const { taken, endedAtMs } = task;
  const isEnded = isFinished(task) && endedAtMs !== undefined;
  const where = clouddriverId === undefined ? {} : { clouddriverId };
  return {
    operationId: task.id,
    account: findAccount(task) ?? task.account,
    operationType: listAsked(task).operations.join(','),
    startTime: toTime(task.acceptedAtMs),
    ...(isEnded && { endTime: toTime(endedAtMs), totalDurationMs: endedAtMs - task.acceptedAtMs }),
    opReceivedByClouddriver: { ...where, time: toTime(task.acceptedAtMs) },
    ...(taken && { opSentToAgent: { agentId: taken.agentId, time: toTime(taken.atMs) } }),
    ...(taken &&
      isEnded &&
      isEndedBy(task, taken.agentId) && {
        resultReceivedFromAgent: {
          ...{ agentId: taken.agentId, ...where, time: toTime(endedAtMs) },
          result: { status: task.state, durationMs: endedAtMs - taken.atMs },
        },
      }),
    ...(isFinished(task) && { finalOutcome: task.state }),
  };
}

/** An end from outside, or by the sweeper, is no result of an agent. */
function isEndedBy({ ownerId, journal }: Task, agentId: string): boolean {
  return ownerId.endsWith(`@${agentId}`) && journal.at(-1)?.key !== endedKey;
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
