import {
  accountConnectionsMax,
  type CloseCode,
  chooseConnections,
  closeCodes,
  type Hint,
} from '#agents/agent-connections.ts';

/** Connections of one process at most. */
export const connectionsMax = 4_096;

/** Connections of one session: the one that is there, and the one that is about to take its place. */
const sessionConnectionsMax = 2;

/** A connection of an agent that ends in this process. */
export interface HeldConnection {
  readonly id: string;
  readonly session: string;
  readonly agentId: string;
  readonly zone: string;
  /** `websocket`, `grpc`. */
  readonly transport: string;
  /** The accounts whose hints it gets. */
  readonly accounts: ReadonlySet<string>;
  /** Sends a hint. It must not throw. */
  send(hint: Hint): void;
  /** Ends it. It must not throw, and removing it is left to who added it. */
  close(code: CloseCode): void;
}

/** The connections of agents that end in this process: what is known of them anywhere else may be old. */
export class HintConnections {
  readonly #all = new Map<string, HeldConnection>();
  /** Those of each account, the oldest first. */
  readonly #byAccount = new Map<string, Set<HeldConnection>>();

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Adds a connection. Those whose place it takes are closed: of the same agent's earlier session, and the oldest one of a session that
   * has too many.
   *
   * @returns what removes it again; undefined where there are too many already
   */
  add(connection: HeldConnection): Disposable | undefined {
    for (const each of this.#findReplaced(connection)) {
      this.#remove(each);
      each.close(closeCodes.replaced);
    }
    if (this.#all.size >= connectionsMax || this.#isFull(connection)) return undefined;
    this.#all.set(connection.id, connection);
    for (const account of connection.accounts) {
      const connections = this.#byAccount.get(account) ?? new Set();
      this.#byAccount.set(account, connections.add(connection));
    }
    return { [Symbol.dispose]: () => this.#remove(connection) };
  }

  /** Whether the connection is among them. */
  has(id: string): boolean {
    return this.#all.has(id);
  }

  /** Tells the connections that a hint is for. @returns whether there was one */
  deliver(hint: Hint): boolean {
    const connections = [...(this.#byAccount.get(hint.account) ?? [])].toReversed();
    const told = chooseConnections(connections, hint);
    for (const connection of told) {
      connection.send(hint);
      if (hint.kind === 'CLOSE') connection.close(closeCodes.unauthenticated);
    }
    return told.length > 0;
  }

  /** No agent replaces the connection of one that may do more than itself. */
  #findReplaced({ session, agentId, accounts }: HeldConnection): readonly HeldConnection[] {
    const beside = [
      ...new Set([...accounts].flatMap((account) => [...(this.#byAccount.get(account) ?? [])])),
    ];
    const own = beside.filter((each) => each.session === session);
    const earlier = beside.filter(
      (each) => each.session !== session && each.agentId === agentId && each.accounts.isSubsetOf(accounts),
    );
    return [...own.slice(0, Math.max(0, own.length + 1 - sessionConnectionsMax)), ...earlier];
  }

  #isFull({ accounts }: HeldConnection): boolean {
    return [...accounts].some(
      (account) => (this.#byAccount.get(account)?.size ?? 0) >= accountConnectionsMax,
    );
  }

  #remove(connection: HeldConnection): void {
    if (!this.#all.delete(connection.id)) return;
    for (const account of connection.accounts) {
      const connections = this.#byAccount.get(account);
      connections?.delete(connection);
      if (connections?.size === 0) this.#byAccount.delete(account);
    }
  }
}
