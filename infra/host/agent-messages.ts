import type { TextMessage, TextSchema } from './protobuf-text.ts';

/**
 * Fields of `busdriver.agent.v1.Operation`, in the order of their numbers, from 1: that there is work for an account. It tells where work
 * is to be fetched, not what it is.
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

/** Fields of `busdriver.agent.v1.OperationResult`, in the order of their numbers, from 1: that something somebody waits for is done. */
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
