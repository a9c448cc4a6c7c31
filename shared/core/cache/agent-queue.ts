import type { AgentKey } from './agent-store.ts';

/** Agents of one message at most. */
export const agentsPerMessage = 25;

/** A message on the queue of agents: run these. It is a hint: a claim decides. */
export interface AgentMessage {
  readonly agents: readonly AgentKey[];
  /** For when it was meant, wall time in milliseconds. */
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
