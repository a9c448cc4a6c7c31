import { type AwsEvent, parseAwsEvent } from '#caching/scheduling/aws-event.ts';
import {
  type CachingAgentMessage,
  parseCachingAgentMessage,
} from '#caching/scheduling/caching-agent-queue.ts';
import { parseStreamMessage, type StreamMessage } from '#caching/scheduling/streams/stream-queue.ts';
import { parseTaskMessage, type TaskMessage } from '#tasks/operation-queue.ts';
import type { MessageKind } from './queue-handler.ts';

/** Messages of the queue `operations`. */
export const taskMessages: MessageKind<TaskMessage> = {
  parse: parseTaskMessage,
  toLogFields: ({ taskId }) => ({ taskId }),
};

/** An AWS event that a rule of EventBridge sent to the queue of caching agents. */
export interface EventMessage {
  readonly event: AwsEvent;
}

/** Messages of the queue `agents`. */
export const agentMessages: MessageKind<CachingAgentMessage | EventMessage> = {
  parse(body) {
    const event = parseAwsEvent(body);
    return event === undefined ? parseCachingAgentMessage(body) : { event };
  },
  toLogFields: () => ({}),
};

/** Messages of the queue `agent-streams`. */
export const streamMessages: MessageKind<StreamMessage> = {
  parse: parseStreamMessage,
  toLogFields: () => ({}),
};
