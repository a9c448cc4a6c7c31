import type { Clock } from '#core/clock.ts';
import { readEnvironment } from '#platform/config.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { AccountClient } from '#providers/kubernetes/api/client.ts';
import {
  createKubernetesClient,
  type KubernetesClientOptions,
} from '#providers/kubernetes/client/kubernetes-client.ts';
import type { KubernetesConnection } from '#providers/kubernetes/credentials/connection.ts';

/** A clock that a test turns. Sleeping turns it, too, and is noted. */
export class TurnedClock implements Clock {
  /** Milliseconds slept, in order. */
  readonly slept: number[] = [];
  #ms = Date.UTC(2030, 0, 1);

  now(): number {
    return this.#ms;
  }

  monotonic(): number {
    return this.#ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.turn(ms);
  }

  turn(ms: number): void {
    this.#ms += ms;
  }
}

/** A client for a test: what it does not say is that of a developer's machine. */
export function createTestClient(
  connection: Partial<KubernetesConnection>,
  options: Partial<KubernetesClientOptions> = {},
): AccountClient {
  return createKubernetesClient({
    clock: systemClock,
    randomness: systemRandomness,
    log: silentLog,
    environment: readEnvironment(),
    budget: { qps: 10_000, burst: 10_000 },
    ...options,
    connection: { name: 'prod', serviceAccount: false, placement: 'local', ...connection },
  });
}

/** A log nobody reads. */
export const silentLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  // Nothing to do.
}
