import { isJsonObject } from '#core/json.ts';
import type { CachingAgentKey } from './caching-agent-store.ts';

/** Caching agents of one message at most. */
export const cachingAgentsPerMessage = 25;

/** Messages of one call at most: SQS' limit. */
export const messagesPerSend = 10;

/** A message on the queue of caching agents: run these. It promises nothing: a claim decides. */
export interface CachingAgentMessage {
  readonly agents: readonly CachingAgentKey[];
  /** When its caching agents are due, wall time in milliseconds. In a demand: the cache is to hold what was so at this time. */
  readonly dueMs: number;
  /** A request waits for it: run them although they are not due. */
  readonly isDemanded?: boolean | undefined;
}

/** The queue of caching agents. */
export interface CachingAgentQueue {
  /** Sends up to ten messages, delivered when they are due, or in the second after. @throws when one was not sent: others may have been */
  send(messages: readonly CachingAgentMessage[], nowMs: number): Promise<void>;
}

/** The message in a body; undefined when it is none. */
export function parseCachingAgentMessage(body: unknown): CachingAgentMessage | undefined {
  if (!isJsonObject(body)) return undefined;
  const { agents, dueMs, isDemanded } = body;
  if (!Array.isArray(agents) || agents.length === 0 || typeof dueMs !== 'number') return undefined;
  const keys = agents.map(parseCachingAgentKey).filter((key) => key !== undefined);
  if (keys.length < agents.length) return undefined;
  return { agents: keys, dueMs, isDemanded: isDemanded === true };
}

/** The caching agent that a member of a message names; undefined where it names none. */
export function parseCachingAgentKey(value: unknown): CachingAgentKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { account, name } = value;
  return typeof account === 'string' && typeof name === 'string' ? { account, name } : undefined;
}
