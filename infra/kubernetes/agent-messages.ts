import { findHintKind, type Hint } from '#agents/agent-connections.ts';
import type { ReadEnd } from '#agents/services/awaited-answers.ts';
import type { TextMessage, TextSchema } from './protobuf-text.ts';

/**
 * Fields of `busdriver.agent.v1.Operation`, in the order of their numbers, from 1: that there is work for an account. It says where to
 * fetch work, not what it is.
 */
export const operationSchema = {
  id: 'string',
  account: 'string',
  type: 'string',
  task_id: 'string',
  kind: 'string',
  accepted_ms: 'int64',
  deadline_ms: 'int64',
} as const satisfies TextSchema;

/** Fields of `busdriver.agent.v1.OperationResult`, in the order of their numbers, from 1: that an awaited result is there. */
export const operationResultSchema = {
  id: 'string',
  account: 'string',
  task_id: 'string',
  status: 'uint32',
  outcome: 'string',
  duration_ms: 'int64',
  agent_id: 'string',
} as const satisfies TextSchema;

/** That there is work for an account. */
export type OperationMessage = TextMessage<typeof operationSchema>;

/** That something is done. */
export type OperationResultMessage = TextMessage<typeof operationResultSchema>;

/** The message of a hint. Its `kind` is that of `Work`, its `id` what the hint names. */
export function toOperation({ kind, account, id, deadlineMs }: Hint): OperationMessage {
  const taskId = kind === 'TASK' ? id : '';
  return {
    ...{ id, account, type: 'work', task_id: taskId, kind },
    ...{ accepted_ms: 0, deadline_ms: deadlineMs ?? 0 },
  };
}

/** The hint of a message. One of a kind that is not known has agents look for work. */
export function toHint({ kind, account, id, deadline_ms: deadlineMs }: OperationMessage): Hint {
  const known = findHintKind(kind);
  return {
    ...{ kind: known ?? 'TASK', account, id: known === undefined ? '' : id },
    ...(deadlineMs > 0 && { deadlineMs }),
  };
}

/** The message that a read was answered. */
export function toOperationResult(end: ReadEnd): OperationResultMessage {
  const { id, account, agentId, isRead, durationMs } = end;
  return {
    ...{ id, account, task_id: '', agent_id: agentId },
    ...{ status: isRead ? 200 : 500, outcome: isRead ? 'COMPLETED' : 'FAILED' },
    duration_ms: Math.max(0, Math.round(durationMs)),
  };
}
