import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';

/** Whether the upstream answers, as this process saw it last. */
export interface UpstreamHealth {
  readonly status: 'UP' | 'DOWN';
  /** Why it is down. */
  readonly reason?: string;
}

/** Remembers whether the upstream answers, and logs it once when that changes. */
export class UpstreamState {
  readonly #log: Logger;
  #health: UpstreamHealth | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Undefined before the first answer, or the first failure. */
  get health(): UpstreamHealth | undefined {
    return this.#health;
  }

  /** It answered as it should. */
  recordAnswer(): void {
    if (this.#health?.status === 'DOWN') this.#log.info('the Clouddriver upstream answers again');
    if (this.#health?.status !== 'UP') this.#health = { status: 'UP' };
  }

  /** It did not. @param error says why, without secrets */
  recordFailure(error: unknown): void {
    const reason = getErrorMessage(error);
    if (this.#health?.status !== 'DOWN')
      this.#log.warn('the Clouddriver upstream does not answer', { reason });
    this.#health = { status: 'DOWN', reason };
  }
}

/** The state of the installation's upstream, for `services.get`. */
export function createUpstreamState(services: Services): UpstreamState {
  return new UpstreamState(openBase(services).log);
}
