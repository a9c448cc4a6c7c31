import type { AgentSession } from './agent-session.ts';

/** A part of the list of agents. */
export interface AgentPage {
  /** The newest session of each agent, by the agents' ids. Sessions that are over are left out. */
  readonly sessions: readonly AgentSession[];
  /** Behind which agent to go on; undefined at the end of the list. */
  readonly next: string | undefined;
}

/** The list of sessions, for who looks after agents. */
export interface AgentDirectory {
  /**
   * Agents in the order of their ids.
   *
   * @param options.limit how many at most; a page may have fewer, and yet not be the last one
   * @param options.after begins behind the agent of this id
   */
  list(options: { readonly limit: number; readonly after?: string | undefined }): Promise<AgentPage>;
  /** The sessions of an agent that are not over, the newest first. */
  listOf(agentId: string): Promise<readonly AgentSession[]>;
}
