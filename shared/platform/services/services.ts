import type { Environment } from '../config.ts';
import type { DirectServices } from './direct-services.ts';

/** Makes a service of an installation. What it needs of others it opens from `services`. */
export type CreateService<T> = (services: Services) => T;

/** The same for a service of which there are several kinds. */
export type CreateKind<T, K> = (services: Services, kind: K) => T;

/**
 * Everything that one installation has opened: each service is made on first use, once, and shared from then on. A process of Lambda
 * has one; a process that runs several installations has one for each, and nothing of one reaches another.
 *
 * Services have no members here: what makes a service stands in a file of its own, and a function imports the files of those that
 * it uses. So its bundle holds no other.
 */
export class Services implements AsyncDisposable {
  /** The environment variables of the installation. */
  readonly environment: Environment;
  /** What calls those services of AWS that stand in this process. */
  readonly direct: DirectServices;
  readonly #made = new Map<unknown, Map<unknown, unknown>>();
  readonly #closing = new AsyncDisposableStack();

  /** @param direct AWS services that are called without a network. Default: none. */
  constructor(environment: Environment, direct: DirectServices = {}) {
    this.environment = environment;
    this.direct = direct;
  }

  /**
   * The service that `create` makes: made now, unless it is there already. One that cannot be made is tried again the next time.
   *
   * @throws what `create` throws
   */
  get<T>(create: CreateService<T>): T;
  /** The same for one of several kinds of the service. */
  get<T, K>(create: CreateKind<T, K>, kind: K): T;
  get<T, K>(create: CreateKind<T, K | undefined>, kind?: K): T {
    const kinds = this.#made.get(create) ?? new Map<unknown, unknown>();
    this.#made.set(create, kinds);
    if (!kinds.has(kind)) kinds.set(kind, create(this, kind));
    // Only `create` itself makes what stands under its name.
    return kinds.get(kind) as T;
  }

  /** Has something closed with the installation; what was opened last is closed first. */
  closeLater(close: () => Promise<void> | void): void {
    this.#closing.defer(close);
  }

  /** Closes all that was opened, in reverse order. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }
}
