import { type ConnectionPlace, disconnectAgent, writeConnection } from '#agents/http/agent-connection.ts';
import { openAgentHub } from '#agents/services/agent-hub.ts';
import type { Clock } from '#core/clock.ts';
import { waitAtMost } from '#core/deadline.ts';
import { UnauthenticatedError } from '#core/errors.ts';
import type { HeldConnection } from '#infra/server/hints/hint-connections.ts';
import type { Services } from '#platform/services/services.ts';

/** Milliseconds that removing rows may take when the process stops: one that stays is removed by who finds it wrong. */
const removalMs = 3_000;

/** What rows are written with. */
export interface ConnectionRowsOptions {
  readonly services: Services;
  /** By which peers know this process. */
  readonly podName: string;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Tells other replicas, by rows of a table, which agents are connected to this one. Disposing waits until those that end are removed. */
export class ConnectionRows implements AsyncDisposable {
  readonly #options: ConnectionRowsOptions;
  readonly #ends = new Set<Promise<void>>();

  constructor(options: ConnectionRowsOptions) {
    this.#options = options;
  }

  /** Writes the rows of a connection. @returns what removes them again; undefined where its session is over */
  async add({ id, session, transport }: HeldConnection): Promise<AsyncDisposable | undefined> {
    const { services, podName: holder } = this.#options;
    const hub = await openAgentHub(services);
    const place: ConnectionPlace = { id, session, transport, holder };
    if ((await writeConnection(hub, place).catch(ignoreOver)) === undefined) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ends.add(promise);
    return {
      [Symbol.asyncDispose]: async () => {
        try {
          await disconnectAgent(hub, place);
        } finally {
          this.#ends.delete(promise);
          resolve();
        }
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await waitAtMost(this.#options.clock, removalMs, Promise.all(this.#ends));
  }
}

function ignoreOver(error: unknown): undefined {
  if (error instanceof UnauthenticatedError) return undefined;
  throw error;
}
