import type { Clock } from '../../../../../shared/core/clock.ts';
import type { AccountClient } from '../../../../../shared/providers/kubernetes/api/client.ts';
import {
  createKubernetesClient,
  type KubernetesClientOptions,
} from '../../../../../shared/providers/kubernetes/client/kubernetes-client.ts';
import type { KubernetesConnection } from '../../../../../shared/providers/kubernetes/credentials/connection.ts';
import { readEnvironment } from '../../../../../shared/runtime/config.ts';
import { systemClock, systemRandomness } from '../../../../../shared/runtime/services/system.ts';

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
