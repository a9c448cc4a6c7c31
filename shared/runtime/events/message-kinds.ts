import { type AgentMessage, parseAgentMessage } from '../../core/agents/agent-queue.ts';
import { parseStreamMessage, type StreamMessage } from '../../core/agents/streams/stream-queue.ts';
import { parseTaskHint, type TaskHint } from '../../core/tasks/operation-queue.ts';
import type { MessageKind } from './queue-handler.ts';

/** Messages of the queue `operations`. */
export const taskHints: MessageKind<TaskHint> = {
  parse: parseTaskHint,
  toLogFields: ({ taskId }) => ({ taskId }),
};

/** Messages of the queue `agents`. */
export const agentMessages: MessageKind<AgentMessage> = {
  parse: parseAgentMessage,
  toLogFields: () => ({}),
};

/** Messages of the queue `agent-streams`. */
export const streamMessages: MessageKind<StreamMessage> = {
  parse: parseStreamMessage,
  toLogFields: () => ({}),
};
