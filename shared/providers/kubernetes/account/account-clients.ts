import type { ProviderOptions } from '../../../core/providers/provider.ts';
import type { KubernetesClientOptions } from '../client/kubernetes-client.ts';
import type { KubernetesAccount } from './account.ts';
import { createAwsSurroundings } from './aws-surroundings.ts';

/** One client for each account, made when it is first needed. */
export class AccountClients<Client extends AsyncDisposable> implements AsyncDisposable {
  readonly #options: ProviderOptions;
  readonly #open: (options: KubernetesClientOptions) => Promise<Client>;
  readonly #clients = new Map<string, Promise<Client>>();

  /** @param open makes a client; what it needs it should load late: who only looks at accounts must not pay for it. */
  constructor(options: ProviderOptions, open: (options: KubernetesClientOptions) => Promise<Client>) {
    this.#options = options;
    this.#open = open;
  }

  /**
   * The account's client, the same each time.
   *
   * @throws Error where credentials are withheld: the function was given nothing to reach clusters with.
   */
  get({ connection }: Pick<KubernetesAccount, 'connection'>): Promise<Client> {
    const known = this.#clients.get(connection.name);
    if (known !== undefined) return known;
    const { clock, randomness, log, placement, environment = {}, credentials } = this.#options;
    if (credentials === 'withheld') {
      return Promise.reject(new Error(`this function has no credentials of account ${connection.name}`));
    }
    const opening = this.#open({
      connection: { ...connection, placement },
      clock,
      randomness,
      log,
      environment,
      ...createAwsSurroundings(connection, this.#options),
    });
    this.#clients.set(connection.name, opening);
    return opening;
  }

  /** Closes all of them. */
  async [Symbol.asyncDispose](): Promise<void> {
    const clients = await Promise.all(this.#clients.values());
    this.#clients.clear();
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  }
}
