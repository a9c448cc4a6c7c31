import { openCachingAgentStore } from '#caching/services/caching-agent-store.ts';
import { reportDeadMessage } from '#http/events/dead-letters.ts';
import { streamMessages } from '#http/events/message-kinds.ts';
import { queueHandler } from '#http/events/queue-handler.ts';

/** Queue `agent-streams-dead-letters`: tells which agents a failed message named, and why. The scheduler sends for them again. */
export const handler = queueHandler(streamMessages, openCachingAgentStore, reportDeadMessage);
