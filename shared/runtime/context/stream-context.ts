import { createStreamQueue } from '../../aws/agents/stream-queue.ts';
import type { StreamQueue } from '../../core/agents/streams/stream-queue.ts';
import { type AgentContext, openAgentContext } from './agent-context.ts';
import { openSqs } from './sqs-client.ts';

/** What functions that follow agents, or send for that, work with. */
export interface StreamContext extends AgentContext {
  readonly streams: StreamQueue;
}

let opened: StreamContext | undefined;

/** The context of this process, made from its environment on first use and shared from then on. */
export function openStreamContext(): StreamContext {
  opened ??= createStreamContext(openAgentContext());
  return opened;
}

function createStreamContext(context: AgentContext): StreamContext {
  const { config } = context;
  return { ...context, streams: createStreamQueue(openSqs(config), config.agentStreamsQueueUrl) };
}
