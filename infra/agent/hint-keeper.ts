import { closeCodes, type Hint } from '#agents/agent-connections.ts';
import { type BackOff, getPauseMs, getRandomMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { AgentTransport } from './config/agent-config.ts';
import type { SessionKeeper } from './hub/agent-session.ts';
import type { HintEnd, HintLine } from './hub/hint-line.ts';
import { addLateness, getRetryAfterMs, type HubClient } from './hub/hub-client.ts';
import type { ReturnPlace } from './hub/return-place.ts';

/** Pauses between two tries to connect: a second, longer by a factor of 1.6 up to two minutes, more or less a fifth. */
const backOff: BackOff = { firstMs: 1_200, mostMs: 144_000, growth: 1.6, fixedShare: 2 / 3 };

/** Failures in a row after which only asking is relied on, and the pause until another try, milliseconds. */
const failuresMax = 3;
const retryMs = 10 * 60_000;

/** Within so many milliseconds after Busdriver is back agents try to connect. */
const backMs = 5_000;

/** Age at which a connection is replaced at the latest, milliseconds, and the least share of it: API Gateway ends one after two hours. */
const replaceMs = 115 * 60_000;
const replaceShare = 105 / 115;

/** A connection that lasted so long did not fail, milliseconds. */
const steadyMs = 10_000;

/** Dependencies of the keeper. */
export interface HintKeeperOptions {
  readonly session: Pick<SessionKeeper, 'getWelcome' | 'forget' | 'isConnected'>;
  readonly client: Pick<HubClient, 'connect'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  readonly transport: AgentTransport;
  readonly place: ReturnPlace;
  onHint(hint: Hint): void;
  /** Called when the agent is connected, and when it is no more. */
  onChange(isConnected: boolean): void;
}

/** Keeps a connection over which Busdriver sends hints, as long as there is a way. */
export class HintKeeper {
  readonly #options: HintKeeperOptions;
  /** Cuts the present pause short. */
  #back = new AbortController();
  /** Until when Busdriver wants to be left alone, milliseconds of the monotonic clock. */
  #notBeforeMs = 0;

  constructor(options: HintKeeperOptions) {
    this.#options = options;
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { transport, clock, log, randomness, session, place } = this.#options;
    if (transport === 'poll') return;
    for (let failures = 0; !signal.aborted; ) {
      this.#back = new AbortController();
      const end = await this.#holdOnce(signal);
      if (signal.aborted) return;
      failures = end !== undefined && end.lastedMs >= steadyMs ? 1 : failures + 1;
      // A Busdriver that is away has refused nothing.
      if (!session.isConnected) failures = Math.min(failures, failuresMax - 1);
      // A refused agent is one of many, and comes again when most of them are there.
      const spreadMs = end === undefined ? place.getNextMs() : 0;
      const pauseMs = Math.max(spreadMs + this.#getPauseMs(failures, end), this.#getToldMs());
      log.info('no connection for hints', { againInMs: Math.round(pauseMs) });
      const isOver = await waits(clock, pauseMs, AbortSignal.any([signal, this.#back.signal]));
      // All agents find at once that Busdriver is back.
      const soonMs = Math.max(getRandomMs(backMs, randomness), this.#getToldMs());
      if (!isOver) await waits(clock, soonMs, signal);
      await place.waitUntilBack(signal);
    }
  }

  /** Busdriver answers calls again: a connection is worth a try. */
  tellBack(): void {
    this.#back.abort('Busdriver is back');
  }

  /** Connects, and stays connected. @returns how the connection ended; undefined where there was none */
  async #holdOnce(signal: AbortSignal): Promise<HintEnd | undefined> {
    const { log, onChange, place } = this.#options;
    let end: HintEnd | undefined;
    try {
      const first = await this.#connect(signal);
      if (first === undefined) return undefined;
      log.info('connected: Busdriver tells of work');
      place.connect();
      onChange(true);
      end = await this.#replaceInTime(first, signal);
      if (!signal.aborted) log.info('the connection for hints ended', { ...end });
      return end;
    } catch (error) {
      this.#heed(getRetryAfterMs(error, this.#options.randomness));
      log.warn('the connection for hints failed', { reason: getErrorMessage(error) });
      return undefined;
    } finally {
      // Codes of Busdriver's own are for this agent alone.
      place.disconnect(end !== undefined && end.code < 4_000);
      onChange(false);
    }
  }

  /** Before a connection ends by its age another one is there. @returns how the last one ended */
  async #replaceInTime(first: HintLine, signal: AbortSignal): Promise<HintEnd> {
    const { clock, randomness } = this.#options;
    for (let current = first; ; ) {
      const ended = new AbortController();
      const end = current.ended.finally(() => ended.abort('it has ended'));
      const stop = (): void => current.close();
      signal.addEventListener('abort', stop, { once: true });
      // The end may have come while it connected.
      if (signal.aborted) stop();
      const age = getRandomMs(replaceMs, randomness, replaceShare);
      const next = (await waits(clock, age, ended.signal))
        ? await this.#connect(signal).catch(() => undefined)
        : undefined;
      if (next === undefined || signal.aborted) {
        next?.close();
        return end.finally(() => signal.removeEventListener('abort', stop));
      }
      signal.removeEventListener('abort', stop);
      current.close();
      current = next;
    }
  }

  /** @returns undefined where Busdriver gives no address, or does not answer there @throws what opening a session throws */
  async #connect(signal: AbortSignal): Promise<HintLine | undefined> {
    const { session, client, clock, randomness, log, onHint } = this.#options;
    const welcome = await session.getWelcome();
    if (signal.aborted) return undefined;
    const connection = client.connect({ welcome, clock, log, onHint });
    void connection?.ended.then(({ code, retryAfterMs = 0 }) => {
      this.#heed(addLateness(retryAfterMs, randomness));
      if (code === closeCodes.unauthenticated) session.forget(welcome.token);
    });
    return (await connection?.waitUntilOpen()) ? connection : undefined;
  }

  /** Notes after how many milliseconds Busdriver may be asked again. */
  #heed(pauseMs: number): void {
    this.#notBeforeMs = Math.max(this.#notBeforeMs, this.#options.clock.monotonic() + pauseMs);
  }

  /** Milliseconds for which it still wants to be left alone. */
  #getToldMs(): number {
    return Math.max(0, this.#notBeforeMs - this.#options.clock.monotonic());
  }

  /** If a proxy refuses such connections, or the protocol is another one, it is tried seldom, unless nothing else will do. */
  #getPauseMs(failures: number, end: HintEnd | undefined): number {
    const { transport, randomness } = this.#options;
    const isHopeless = failures >= failuresMax || end?.code === closeCodes.protocol;
    if (isHopeless && transport !== 'websocket') return getRandomMs(retryMs, randomness, 0.8);
    return getPauseMs(backOff, failures, randomness);
  }
}
