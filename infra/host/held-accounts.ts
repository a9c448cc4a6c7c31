import type { OperationMessage, OperationResultMessage } from './agent-messages.ts';

/** Passes a message on to an agent whose connection ends here. It must not throw. */
export type DeliverOperation = (message: OperationMessage) => void;

/** Connections of one account that are kept: more agents than an account has. */
const connectionsMax = 16;

/** Waits at a time: each is a request that is under way. */
const waitsMax = 4_096;

/**
 * Which accounts' agents are connected to this process: a map in memory. That of all processes stands in a table, whose row names the
 * pod; what it says may be old, so whoever is asked for an account looks here.
 */
export class HeldAccounts {
  readonly #connections = new Map<string, Set<DeliverOperation>>();

  /** Names of the accounts. */
  list(): readonly string[] {
    return [...this.#connections.keys()];
  }

  /**
   * An agent has connected. Disposing says that its connection has ended.
   *
   * @throws Error when the account has too many connections
   */
  hold(account: string, deliver: DeliverOperation): Disposable {
    const connections = this.#connections.get(account) ?? new Set();
    if (connections.size >= connectionsMax)
      throw new Error(`account "${account}" has ${connectionsMax} connections already`);
    connections.add(deliver);
    this.#connections.set(account, connections);
    return {
      [Symbol.dispose]: () => {
        connections.delete(deliver);
        if (connections.size === 0 && this.#connections.get(account) === connections)
          this.#connections.delete(account);
      },
    };
  }

  /** Tells the newest connection of the message's account. @returns whether there is one */
  deliver(message: OperationMessage): boolean {
    const newest = [...(this.#connections.get(message.account) ?? [])].at(-1);
    newest?.(message);
    return newest !== undefined;
  }
}

/** Who waits in this process for a result: whatever is told may be lost, so they look for themselves as well. */
export class AwaitedResults {
  readonly #waits = new Map<string, (message: OperationResultMessage) => void>();

  /**
   * Waits for the message that something is done.
   *
   * @param id what `id` of the message will be
   * @returns the message; undefined when the signal was aborted before it came, or too many wait
   */
  async wait(id: string, signal: AbortSignal): Promise<OperationResultMessage | undefined> {
    if (signal.aborted || this.#waits.size >= waitsMax || this.#waits.has(id)) return undefined;
    const { promise, resolve } = Promise.withResolvers<OperationResultMessage | undefined>();
    const giveUp = (): void => resolve(undefined);
    this.#waits.set(id, resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#waits.delete(id);
    }
  }

  /** Tells who waits. @returns whether anybody does */
  settle(message: OperationResultMessage): boolean {
    const resolve = this.#waits.get(message.id);
    resolve?.(message);
    return resolve !== undefined;
  }
}
