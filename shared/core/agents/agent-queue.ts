import { isJsonObject } from '../json.ts';
import type { AgentKey } from './agent-store.ts';

/** Agents of one message at most. */
export const agentsPerMessage = 25;

/** A message on the queue of agents: run these. It is a hint: a claim decides. */
export interface AgentMessage {
  readonly agents: readonly AgentKey[];
  /**
   * The next run of its agents when it was sent, wall time in milliseconds: one that has another next run meanwhile has another
   * message, too. Of a demanded message: the cache is to hold what was so at this time.
   */
  readonly dueMs: number;
  /** Somebody waits for it: run them although they are not due. */
  readonly isDemanded?: boolean | undefined;
}

/** The queue of agents. */
export interface AgentQueue {
  /**
   * Sends a message.
   *
   * @param options.delaySeconds 0 to 900, default 0.
   */
  send(message: AgentMessage, options?: { readonly delaySeconds?: number }): Promise<void>;
}

/** The message that a body is; undefined when it is none. */
export function parseAgentMessage(body: unknown): AgentMessage | undefined {
  if (!isJsonObject(body)) return undefined;
  const { agents, dueMs, isDemanded } = body;
  if (!Array.isArray(agents) || agents.length === 0 || typeof dueMs !== 'number') return undefined;
  const keys = agents.map(parseAgentKey).filter((key) => key !== undefined);
  if (keys.length < agents.length) return undefined;
  return { agents: keys, dueMs, isDemanded: isDemanded === true };
}

function parseAgentKey(value: unknown): AgentKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { account, name } = value;
  return typeof account === 'string' && typeof name === 'string' ? { account, name } : undefined;
}
