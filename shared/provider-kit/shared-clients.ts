/** A client with several users. */
interface SharedClient {
  readonly opening: Promise<AsyncDisposable>;
  users: number;
}

/** One use of a shared client. */
export interface ClientUse<Client> {
  readonly client: Promise<Client>;
  /** Ends the use, once: the client is closed with its last user. */
  release(): Promise<void>;
}

/**
 * Clients that outlive the providers that opened them: providers are opened again when accounts change, and an unchanged account keeps its
 * connections. A client is opened by its first user, and closed by its last.
 */
export class SharedClients {
  readonly #clients = new Map<string, SharedClient>();

  /**
   * The client of a key, opened now if it is missing. One that cannot be opened is tried again by the next user.
   *
   * @param key says everything that the client depends on, and its kind. It is kept: no secrets
   */
  use<Client extends AsyncDisposable>(key: string, open: () => Promise<Client>): ClientUse<Client> {
    const known = this.#clients.get(key);
    const shared = known ?? { opening: open(), users: 0 };
    if (known === undefined) {
      this.#clients.set(key, shared);
      shared.opening.catch(() => this.#forget(key, shared));
    }
    shared.users += 1;
    return {
      // The key includes the kind.
      client: shared.opening as Promise<Client>,
      release: () => this.#release(key, shared),
    };
  }

  async #release(key: string, shared: SharedClient): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    this.#forget(key, shared);
    const client = await shared.opening.catch(() => undefined);
    await client?.[Symbol.asyncDispose]();
  }

  #forget(key: string, shared: SharedClient): void {
    if (this.#clients.get(key) === shared) this.#clients.delete(key);
  }
}
