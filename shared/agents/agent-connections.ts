/** Subjects of hints: work of that sort, that accounts of the agent changed, or that its session is over. */
const hintKinds = ['TASK', 'READ', 'REFRESH', 'ACCOUNTS', 'CLOSE'] as const;

/** The content of a hint. */
export type HintKind = (typeof hintKinds)[number];

/** The kind of that name, in either case; undefined for one that newer sides may send. */
export function findHintKind(name: string): HintKind | undefined {
  return hintKinds.find((kind) => kind === name.toUpperCase());
}

/** Tells agents that there is something to fetch, never what. Any may be lost, doubled or late: agents ask by themselves as well. */
export interface Hint {
  readonly kind: HintKind;
  readonly account: string;
  /** The task, the read, the caching agent, or for `CLOSE` the session; empty where an agent is only to ask for work. */
  readonly id: string;
  /** When no caller waits any more, milliseconds since the epoch. Default: unknown. */
  readonly deadlineMs?: number | undefined;
}

/** Sends hints to the agents of accounts. */
export interface Hints {
  /** Tells agents of the hint's account, if any is connected. Never rejects: one that is lost costs time and nothing else. */
  send(hint: Hint): Promise<void>;
}

/** The path where agents connect for hints, in the homes whose API takes WebSockets. */
export const hintPath = '/agent/v1/hints';

/** Codes with which a connection for hints is closed, besides those of WebSocket itself. */
export const closeCodes = {
  /** The other side ends: RFC 6455. */
  goingAway: 1001,
  /** A frame is malformed: RFC 6455. */
  malformed: 1003,
  /** There are too many connections: the registry of RFC 6455's codes. */
  tryLater: 1013,
  /** The token proves no session, or the session is over: open another one. */
  unauthenticated: 4401,
  /** Another connection took the place of this one. */
  replaced: 4409,
  /** The protocol is another one: install the agent of the server's release. */
  protocol: 4426,
} as const;

/** How a connection for hints is closed. */
export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

/** Connections of an account that get a hint of a task or a read, the newest first: one of them takes it. */
export const toldConnectionsMax = 2;

/** Connections of one account at most, with those that are about to end. */
export const accountConnectionsMax = 16;

/** Milliseconds after which a connection is forgotten: API Gateway ends one after two hours, and so do agents. */
export const connectionLifeMs = (2 * 60 + 5) * 60_000;

/** Whether all connections of the account must hear it: which of them it is meant for only they know. */
export function isForAll({ kind }: Pick<Hint, 'kind'>): boolean {
  return kind !== 'TASK' && kind !== 'READ';
}

/** Those of an account's connections that get a hint. @param connections the newest first */
export function chooseConnections<T extends Pick<AgentConnection, 'session'>>(
  connections: readonly T[],
  hint: Hint,
): readonly T[] {
  if (hint.kind === 'CLOSE') return connections.filter(({ session }) => session === hint.id);
  return isForAll(hint) ? connections : connections.slice(0, toldConnectionsMax);
}

/** A connection of an agent, on which hints are sent, as far as one of its accounts goes. */
export interface AgentConnection {
  /** Which one it is, among all of the installation. */
  readonly id: string;
  readonly account: string;
  readonly session: string;
  readonly agentId: string;
  readonly zone: string;
  /** `websocket`, `grpc`. */
  readonly transport: string;
  /** The process where it ends; undefined where no process of ours holds it. */
  readonly holder?: string | undefined;
  readonly connectedAtMs: number;
}

/** Which connections there are, in a durable store: it says where a hint is worth sending, and may be wrong at any time. */
export interface ConnectionStore {
  /** Stores a connection. @returns false where its session is closed or unknown: then nothing is stored */
  add(connection: AgentConnection): Promise<boolean>;
  /** The connections of an account, the newest first, {@link accountConnectionsMax} at most. */
  list(account: string): Promise<readonly AgentConnection[]>;
  /** Forgets a connection. Repeating it is harmless. */
  remove(connection: Pick<AgentConnection, 'account' | 'id'>): Promise<void>;
}
