import { type Hello, type Renewal, type Welcome, welcomeSchema } from '#agents/protocol/messages.ts';
import { type BackOff, getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { journalFormat } from '#tasks/journal-format.ts';
import {
  getRetryAfterMs,
  type HubAnswer,
  HubAwayError,
  type HubCall,
  type HubClient,
  HubRefusalError,
} from './hub-client.ts';
import { type ProofSource, toOpeningCall } from './proof-source.ts';
import type { ReturnPlace } from './return-place.ts';

/** Pauses between two tries to open a session, unless the file of the agent has others. */
const backOffDefault: BackOff = { firstMs: 1_000, mostMs: 120_000, growth: 1.6, fixedShare: 0.6 };

/** Milliseconds that the end of a session may take: one that is not ended lapses. */
const closeMs = 3_000;

/** Share of a token's time after which it is renewed. */
const renewalShare = 0.6;

/** Milliseconds by which the clock may differ from Busdriver's before the log says so. */
const skewToldMs = 60_000;

/** Dependencies of a session. */
export interface SessionOptions {
  readonly client: Pick<HubClient, 'call'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  /** The proof of the agent's identity. */
  readonly proof: ProofSource;
  /** Pauses between two tries to open a session. */
  readonly backOff?: BackOff | undefined;
  readonly hello: Hello;
  /** Facts about each account and its cluster, sent when a session is opened. Default: what the hello has. */
  tellAccounts?(): Promise<Hello['accounts']>;
  /** The last warnings of the log. */
  listWarnings(): readonly string[];
  /** The agent's load now. Default: it does not say. */
  getLoad?(): Renewal['load'];
  /** When to come back to a Busdriver that was away. Default: at once. */
  readonly place?: ReturnPlace;
  /** Called with the grants, each time they come. */
  onWelcome(welcome: Welcome): void;
  /** Called when Busdriver begins to answer in the session, and when it ceases to. */
  onConnection?(isConnected: boolean): void;
  /** Called before each try to open the first session. */
  onTurn?(): void;
}

/** Keeps a session open: proves who the agent is, renews the token before its end, and begins again where that is refused. */
export class SessionKeeper {
  readonly #options: SessionOptions;
  #welcome: Welcome | undefined;
  #opening: Promise<Welcome> | undefined;
  #renewAtMs = 0;
  #endsAtMs = 0;
  #isConnected = false;
  #stop: AbortSignal | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Whether Busdriver answered the last call. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** The grants of now; undefined before the first session. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  /** Whether there is a session whose token still holds. */
  get isOpen(): boolean {
    return this.#welcome !== undefined && this.#options.clock.monotonic() < this.#endsAtMs;
  }

  /** Opens the first session: tries until it is open, or the signal is aborted. */
  async open(signal: AbortSignal): Promise<void> {
    const { clock, randomness, log, onTurn, backOff = backOffDefault } = this.#options;
    this.#stop = signal;
    for (let tries = 1; !signal.aborted; tries += 1) {
      onTurn?.();
      try {
        await this.#openOnce();
        return;
      } catch (error) {
        const pauseMs = Math.max(getPauseMs(backOff, tries, randomness), getRetryAfterMs(error, randomness));
        log.warn('no session with Busdriver', {
          reason: getErrorMessage(error),
          againInMs: Math.round(pauseMs),
        });
        await waits(clock, pauseMs, signal);
      }
    }
  }

  /** The grants of now: a session is opened where there is none. @throws what a call throws */
  async getWelcome(): Promise<Welcome> {
    return this.#welcome ?? this.#openOnce();
  }

  /** Renews the session when it is time. A failure leaves it for the next call. */
  async renewInTime(): Promise<void> {
    const { clock, listWarnings, getLoad } = this.#options;
    if (this.#welcome === undefined || clock.monotonic() < this.#renewAtMs) return;
    if (this.#welcome.accounts.some(({ refused }) => refused !== undefined)) return this.#openAnew();
    const { session } = this.#welcome;
    const body: Renewal = { journalFormat, warnings: [...listWarnings()], load: getLoad?.() };
    const answer = await this.call({ method: 'POST', path: `/agent/v1/sessions/${session}`, body });
    // After a refusal another session was opened, which the call was repeated in: its path names the one before.
    this.#take(welcomeSchema.parse(answer.body));
  }

  /** Has the session renewed the next time that it is looked at: what is granted may be other. */
  renewSoon(): void {
    this.#renewAtMs = 0;
  }

  /** The session of that token is over: the next call opens another one. */
  forget(token: string): void {
    if (this.#welcome?.token === token) this.#welcome = undefined;
  }

  /** Calls in the session, once this agent may come back. Where its token is refused, another session is opened, and the call repeated once. */
  async call(call: Omit<HubCall, 'token'>): Promise<HubAnswer> {
    const { place } = this.#options;
    const turn = (await place?.wait(this.#stop, call.signal)) ?? 0;
    if (call.signal?.aborted === true) {
      throw new HubAwayError(`${call.method} ${call.path} was given up before Busdriver was back`);
    }
    try {
      const answer = await this.#callNow(call);
      place?.end(turn, 'answered');
      return answer;
    } catch (error) {
      if (error instanceof HubAwayError) place?.end(turn, error.end);
      else place?.end(turn, error instanceof HubRefusalError ? 'answered' : 'unknown');
      throw error;
    }
  }

  async #callNow(call: Omit<HubCall, 'token'>): Promise<HubAnswer> {
    const { client } = this.#options;
    const { token, session } = await this.getWelcome();
    try {
      const answer = await client.call({ ...call, token });
      this.#setConnected(true);
      return answer;
    } catch (error) {
      if (error instanceof HubAwayError && call.signal?.aborted !== true) this.#setConnected(false);
      if (!(error instanceof HubRefusalError) || error.status !== 401) throw error;
      this.#setConnected(false);
      this.forget(token);
      const next = await this.getWelcome();
      const path = call.path.replace(`/sessions/${session}`, `/sessions/${next.session}`);
      return client.call({ ...call, path, token: next.token });
    }
  }

  /** Ends the session, if there is one. Never rejects. */
  async close(): Promise<void> {
    if (this.#welcome === undefined) return;
    const welcome = this.#welcome;
    this.#welcome = undefined;
    this.#setConnected(false);
    await this.#end(welcome);
  }

  async #end({ session, token }: Welcome): Promise<void> {
    const path = `/agent/v1/sessions/${session}`;
    const signal = AbortSignal.timeout(closeMs);
    await this.#options.client.call({ method: 'DELETE', path, token, signal }).catch(() => undefined);
  }

  /** Asks for what was refused before by a session of its own, then ends the one before. */
  async #openAnew(): Promise<void> {
    const before = this.#welcome;
    await this.#openOnce();
    if (before !== undefined) await this.#end(before);
  }

  /** Of several that need one at once, one opens it. */
  #openOnce(): Promise<Welcome> {
    this.#opening ??= this.#openNow().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openNow(): Promise<Welcome> {
    const { client, proof, log, tellAccounts } = this.#options;
    const accounts = (await tellAccounts?.()) ?? this.#options.hello.accounts;
    const hello: Hello = { ...this.#options.hello, accounts };
    const answer = await client.call(await toOpeningCall(proof, hello));
    const welcome = welcomeSchema.parse(answer.body);
    for (const { name, refused } of welcome.accounts) {
      if (refused !== undefined) log.warn('an account is refused', { account: name, reason: refused });
    }
    if (welcome.session === '') throw new Error('none of the accounts is granted');
    log.info('session with Busdriver', {
      session: welcome.session,
      accounts: welcome.accounts.filter(({ operations }) => operations).map(({ name }) => name),
    });
    this.#take(welcome);
    this.#tellSkew(welcome);
    return welcome;
  }

  /** Nothing goes by it: leases are Busdriver's, and held by a monotonic clock. But tokens of the cluster have an end. */
  #tellSkew({ serverMs }: Welcome): void {
    const { clock, log } = this.#options;
    const skewMs = Math.round(clock.now() - serverMs);
    if (Math.abs(skewMs) > skewToldMs) log.warn('the clock differs from that of Busdriver', { skewMs });
  }

  #take(welcome: Welcome): void {
    const { clock, onWelcome } = this.#options;
    this.#welcome = welcome;
    const lifeMs = welcome.expiresMs - welcome.serverMs;
    this.#renewAtMs = clock.monotonic() + lifeMs * renewalShare;
    this.#endsAtMs = clock.monotonic() + lifeMs;
    this.#setConnected(true);
    onWelcome(welcome);
  }

  #setConnected(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    this.#options.onConnection?.(isConnected);
  }
}
