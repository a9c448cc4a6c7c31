import type { Clock } from '#core/clock.ts';
import { OverloadError } from '#core/errors.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';

/** Sessions of agents that are opened within any second, at most. */
const sessionsPerSecond = 40;

/** Connections over which they learn of work, likewise: an agent connects once it has its session, and is not to be kept from that a second time. */
const connectionsPerSecond = 48;

/** Of what is let in, the share that is promised to those who were refused: none comes exactly on time. */
const promisedShare = 0.8;

/** Milliseconds in which so many are let in. */
const windowMs = 1_000;

/** Seconds after which who is refused is to come again, at most. */
const retrySecondsMax = 60;

/**
 * Lets in so many within any second, whatever those outside do: a thousand agents whose server is back ask at one moment. A refused one is
 * given another second than the others, so that they do not come together again.
 */
export class ConnectGate {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #perSecond: number;
  /** When the last ones were let in, the oldest first. */
  readonly #times: number[] = [];
  /** The last moment at which those who were refused are to come. */
  #promisedMs = 0;

  constructor(clock: Pick<Clock, 'monotonic'>, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** Lets one in who has proved who he is. @throws OverloadError where there were too many within the last second */
  enter(): void {
    const nowMs = this.#clock.monotonic();
    while ((this.#times[0] ?? nowMs) <= nowMs - windowMs) this.#times.shift();
    if (this.#times.length < this.#perSecond) {
      this.#times.push(nowMs);
      return;
    }
    throw new OverloadError(
      `More than ${this.#perSecond} agents connect within a second; try again`,
      this.#promise(nowMs),
    );
  }

  /** @returns seconds */
  #promise(nowMs: number): number {
    const lastMs = nowMs + retrySecondsMax * 1_000;
    const stepMs = windowMs / (this.#perSecond * promisedShare);
    this.#promisedMs = Math.min(lastMs, Math.max(this.#promisedMs, nowMs) + stepMs);
    return Math.max(1, Math.ceil((this.#promisedMs - nowMs) / 1_000));
  }
}

/** The gates of a process. Both come after the check of what proves an agent: strangers take no places there. */
export interface ConnectGates {
  /** Of sessions that are opened. */
  readonly sessions: Pick<ConnectGate, 'enter'>;
  /** Of connections over which agents learn of work. */
  readonly connections: Pick<ConnectGate, 'enter'>;
}

/** The gates of this process. In AWS they are open: there API Gateway and Lambda's own limits are what admits. */
export function openConnectGates(services: Services): ConnectGates {
  return services.get(createGates);
}

function createGates(services: Services): ConnectGates {
  const { clock, config } = openBase(services);
  if (config.placement !== 'local') return { sessions: open, connections: open };
  return {
    sessions: new ConnectGate(clock, sessionsPerSecond),
    connections: new ConnectGate(clock, connectionsPerSecond),
  };
}

const open = { enter: () => undefined };
