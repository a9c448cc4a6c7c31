import type { Environment } from '../config.ts';
import type { DirectServices } from './direct-services.ts';

/** Makes a service of an installation. It opens the services that it needs from `services`. */
export type CreateService<T> = (services: Services) => T;

/** The same for a service of several kinds. */
export type CreateKind<T, K> = (services: Services, kind: K) => T;

/**
 * Everything that one installation has opened: each service is made on first use, once, and shared from then on. A process of Lambda has
 * one; a process that runs several installations has one for each, and they share nothing.
 *
 * Services are no members here: what makes a service is in a file of its own, and a function imports the files of those that it uses. So
 * its bundle holds no others.
 */
export class Services implements AsyncDisposable {
  /** The environment variables of the installation. */
  readonly environment: Environment;
  /** Clients of the AWS services inside this process. */
  readonly direct: DirectServices;
  readonly #made = new Map<unknown, Map<unknown, unknown>>();
  readonly #closing = new AsyncDisposableStack();

  /** @param direct AWS services that are called without a network. Default: none. */
  constructor(environment: Environment, direct: DirectServices = {}) {
    this.environment = environment;
    this.direct = direct;
  }

  /** The service that `create` makes, unless it is made. A failed one is tried again at the next call. @throws what `create` throws */
  get<T>(create: CreateService<T>): T;
  /** The same for one of several kinds of the service. */
  get<T, K>(create: CreateKind<T, K>, kind: K): T;
  get<T, K>(create: CreateKind<T, K | undefined>, kind?: K): T {
    const kinds = this.#made.get(create) ?? new Map<unknown, unknown>();
    this.#made.set(create, kinds);
    if (!kinds.has(kind)) kinds.set(kind, create(this, kind));
    // Only `create` itself makes the value under its name.
    return kinds.get(kind) as T;
  }

  /** Closes something with the installation; what was opened last is closed first. */
  closeLater(close: () => Promise<void> | void): void {
    this.#closing.defer(close);
  }

  /** Closes all that was opened, in reverse order. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }
}
