import { agentSilenceMs, type SeenAgent } from '#tasks/task-inbox.ts';

/** Milliseconds for which a token of a session holds: the agent renews the session before. */
export const sessionTokenMs = 15 * 60_000;

/** Milliseconds after which a session is renewed no more: the agent proves its identity again. */
export const sessionLifeMs = 12 * 60 * 60_000;

/** Milliseconds for which a session that ended is remembered, to know when an agent was last there. */
export const sessionMemoryMs = 24 * 60 * 60_000;

/** Milliseconds of silence after which a session cannot go on: its last token is over its time. */
export const sessionSilenceMs = sessionTokenMs + 60_000;

/** An account of a session, and as whose agent it was let in. */
export interface SessionAccount {
  readonly name: string;
  /** Issuer and subject of the proof: once the account asks for others, the session is over. */
  readonly identity: string;
  /**
   * Thumbprint (RFC 7638) of the key that signed the proof: once the account has that key no more, the session is over. Undefined for
   * certificates and roles, and for sessions of releases that did not store it.
   */
  readonly key?: string | undefined;
  /** Generation of the account's agents when it was let in. */
  readonly generation: number;
}

/** An agent's session. */
export interface AgentSession {
  readonly id: string;
  readonly agentId: string;
  readonly version: string;
  readonly zone: string;
  /** Number of the protocol that it speaks, and format of the journals that it writes. */
  readonly protocol: number;
  readonly journalFormat: number;
  readonly accounts: readonly SessionAccount[];
  /** Whom its proof was meant for; undefined for sessions of releases that did not store it. */
  readonly audience?: string | undefined;
  readonly openedAtMs: number;
  /** When the agent was last heard of, exact to some seconds. */
  readonly seenAtMs: number;
  readonly isClosed: boolean;
  /** The last warnings of the agent's log. */
  readonly warnings: readonly string[];
  /** Its load as last reported; undefined before. */
  readonly load?: AgentLoad | undefined;
}

/** How many tasks and live reads an agent runs. */
export interface AgentLoad {
  readonly tasks: number;
  readonly reads: number;
}

/** An agent's reports about itself. */
export interface AgentReport {
  readonly warnings?: readonly string[] | undefined;
  readonly load?: AgentLoad | undefined;
}

/** Whether an agent is there: its session is open, and it was heard of a moment ago. */
export function isConnected(session: Pick<AgentSession, 'isClosed' | 'seenAtMs'>, nowMs: number): boolean {
  return !session.isClosed && Math.abs(nowMs - session.seenAtMs) < agentSilenceMs;
}

/** Sessions in a durable store. Every change is one conditional write of one item. */
export interface AgentSessionStore {
  /** Stores a new session. */
  open(session: AgentSession): Promise<void>;
  /** The session, closed or not; undefined when it is unknown or forgotten. */
  find(id: string): Promise<AgentSession | undefined>;
  /** Records that the agent is there. @param report omitted members stay @returns false for a session that is closed or unknown */
  touch(id: string, seenAtMs: number, report?: AgentReport): Promise<boolean>;
  /** Closes a session: it proves nothing any more. Repeating it is harmless. */
  close(id: string): Promise<void>;
  /** Closes every session that has an account, whatever others it has. Repeating it is harmless. @returns their ids */
  closeAllOf(account: string): Promise<readonly string[]>;
  /**
   * The sessions of an account: those that may go on, however many, and the one that was heard of last where none does. Of those that
   * were opened last the first ones.
   */
  listOf(account: string): Promise<readonly AgentSession[]>;
  /** When an agent of an account was last heard of; undefined when none was for a day. */
  findSeen(account: string): Promise<SeenAgent | undefined>;
}
