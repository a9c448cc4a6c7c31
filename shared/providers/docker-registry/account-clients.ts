import type { RegistryAccount } from './account.ts';
import type { AccountClient, ClientParts } from './account-client.ts';

/** The clients of all accounts: one for each, loaded and opened on first use. */
export class AccountClients implements AsyncDisposable {
  readonly #parts: ClientParts;
  readonly #clients = new Map<string, Promise<AccountClient>>();

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** The client of an account, the same each time. */
  open(account: RegistryAccount): Promise<AccountClient> {
    const opening =
      this.#clients.get(account.name) ??
      import('./account-client.ts').then(({ openAccountClient }) => openAccountClient(account, this.#parts));
    this.#clients.set(account.name, opening);
    return opening;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const clients = await Promise.all(this.#clients.values());
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  }
}
