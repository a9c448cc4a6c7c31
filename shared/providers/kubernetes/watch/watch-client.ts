import { AccountBreaker } from '#accounts/model/account-breaker.ts';
import type { Clock } from '#core/clock.ts';
import { Semaphore } from '#core/concurrency.ts';
import { type BudgetLimits, RequestBudget } from '#provider-kit/request-budget.ts';
import { type AnswerLimitError, listDurationMsMax } from '../api/answer-limits.ts';
import type { CallOptions } from '../api/client.ts';
import { KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import { getCollectionPath, withQuery } from '../api/resource-path.ts';
import { readServedResources, type ServedResource } from '../client/discovery.ts';
import { type HeldAnswer, nameResource, parseHeldAnswer, parseJsonAnswer } from '../client/json-answer.ts';
import type { KubernetesClientOptions } from '../client/kubernetes-client.ts';
import {
  getResourceVersion,
  type ListPage,
  listPages,
  metadataAccept,
  metadataListAccept,
} from '../client/list-pages.ts';
import { withoutSecretValues } from '../client/secret-refusal.ts';
import { type StreamEnd, streamBody } from '../transport/body-stream.ts';
import type { SilenceProbe } from '../transport/exchange.ts';
import {
  type ApiRequest,
  ApiTransport,
  type TryOutcome,
  toStatusFailure,
  toWireTarget,
} from '../transport/http.ts';
import { type Session, SessionKeeper } from '../transport/session.ts';
import { type KindScope, toWatchFailure, type WatchEnd, WatchReader, type WatchRequest } from './watch.ts';
import { WatchMemory } from './watch-memory.ts';

/** The options of a watch client. */
export interface WatchClientOptions extends KubernetesClientOptions {
  /** Watches at once, each with its own connection; further ones wait. Default: 64. */
  readonly maximumWatches?: number | undefined;
  /** How much longer than requested a watch may be silent before it counts as broken. Default: 5 s. */
  readonly endGraceMs?: number | undefined;
}

const defaultBudget: BudgetLimits = { qps: 20, burst: 100 };
const defaultMaximumWatches = 64;
/** Connections for other requests than watches. */
const furtherConnections = 8;
const defaultTimeoutSeconds = 30;
const defaultEndGraceMs = 5_000;
/** How much longer than requested a watch may last, milliseconds: one that never ends would occupy its worker for ever. */
const endlessGraceMs = 10_000;

/**
 * Lists and watches one account's kinds. It has its own connections and request budget (by default 20 requests a second, 100 at once), so
 * that reading a whole cluster never delays operations. Creating one reads nothing and connects to nothing.
 */
export class WatchClient implements AsyncDisposable {
  readonly #account: string;
  readonly #clock: Clock;
  readonly #requestTimeoutMs: number;
  readonly #endGraceMs: number;
  readonly #sessions: SessionKeeper;
  readonly #transport: ApiTransport;
  readonly #slots: Semaphore;
  readonly #closing = new AbortController();

  constructor(options: WatchClientOptions) {
    const { connection, clock, randomness, probeTimes, maximumWatches = defaultMaximumWatches } = options;
    this.#account = connection.name;
    this.#clock = clock;
    this.#requestTimeoutMs = (connection.requestTimeoutSeconds ?? defaultTimeoutSeconds) * 1000;
    this.#endGraceMs = options.endGraceMs ?? defaultEndGraceMs;
    this.#slots = new Semaphore(maximumWatches);
    this.#sessions = new SessionKeeper({
      ...options,
      maximumConnections: maximumWatches + furtherConnections,
    });
    this.#transport = new ApiTransport({
      account: connection.name,
      sessions: this.#sessions,
      budget: new RequestBudget(options.budget ?? defaultBudget, clock),
      clock,
      randomness,
      breaker: options.breaker ?? new AccountBreaker({ account: connection.name, clock, log: options.log }),
      probeTimes,
      requestTimeoutMs: this.#requestTimeoutMs,
    });
  }

  /**
   * A consistent list, page by page.
   *
   * @throws KubernetesApiError, also if its snapshot expires before it is complete; KubernetesConnectionError, or the signal's reason
   */
  listFrom(scope: KindScope, options?: CallOptions): AsyncGenerator<ListPage, void, void> {
    return listPages(scope, {
      account: this.#account,
      attempts: 1,
      durationMsMax: listDurationMsMax,
      clock: this.#clock,
      send: (request) => this.#sendHeld(scope, request),
      signal: options?.signal,
    });
  }

  /**
   * The current resource version: nothing that happened before the call is newer. Costs one small request, whatever the number of objects.
   * Empty if the server returns none.
   *
   * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason
   */
  async readResourceVersion(scope: KindScope, options?: CallOptions): Promise<string> {
    const { value, release } = await this.#sendHeld(scope, {
      method: 'GET',
      path: withQuery(getCollectionPath(scope.resource, scope.namespace), { limit: 1 }),
      accept: `${metadataListAccept},application/json`,
      signal: options?.signal,
    });
    release();
    return getResourceVersion(value);
  }

  /**
   * What the cluster serves now outside the core group, in order of preference.
   *
   * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason
   */
  listResources({ signal }: CallOptions = {}): Promise<readonly ServedResource[]> {
    return readServedResources(this.#account, async (request) => {
      const answer = await this.#transport.send({ ...request, method: 'GET', compressed: true, signal });
      return parseJsonAnswer(answer, this.#account, 'GET');
    });
  }

  /**
   * Watches until the stream ends for any reason; throws only what `onChanges` throws. The API's refusals (403, 404 …) are in the `error`
   * of a `broken` end. Like other reads, a request without an answer is retried a few times.
   */
  async watch(request: WatchRequest): Promise<WatchEnd> {
    const { resource, namespace, fieldSelector, resourceVersion, timeoutSeconds } = request;
    const signal = request.signal
      ? AbortSignal.any([request.signal, this.#closing.signal])
      : this.#closing.signal;
    const query = { watch: 1, allowWatchBookmarks: true, fieldSelector, resourceVersion, timeoutSeconds };
    const path = withQuery(getCollectionPath(resource, namespace), query);
    const accept = request.metadataOnly ? metadataAccept : undefined;
    const call: ApiRequest = { method: 'GET', path, accept, signal };
    const reader = new WatchReader(request, this.#clock);
    let release: (() => void) | undefined;
    try {
      release = await this.#slots.acquire(signal);
      return await this.#transport.sendBy(call, (session, silence) =>
        this.#watchOnce({ request, call, reader, session, silence }),
      );
    } catch (error) {
      if (signal.aborted) return reader.toEnd({ ended: 'aborted' });
      const named = nameResource(error, resource, { account: this.#account, request: call });
      if (!(named instanceof KubernetesApiError || named instanceof KubernetesConnectionError)) throw named;
      return reader.toEnd(toWatchFailure(named));
    } finally {
      release?.();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error(`account "${this.#account}": its watch client is closed`));
    await this.#sessions.close();
  }

  async #watchOnce(watching: Omit<OneWatch, 'memory'>): Promise<TryOutcome<WatchEnd>> {
    const { request, call, reader, session, silence } = watching;
    const silenceMs = request.timeoutSeconds * 1000 + this.#endGraceMs;
    using memory = new WatchMemory(this.#account, call.signal);
    reader.begin();
    const end = await streamBody({
      ...toWireTarget(session, call),
      silence,
      // Some proxies hold back an answer until it has content.
      answerTimeoutMs: Math.max(this.#requestTimeoutMs, silenceMs),
      silenceMs,
      durationMs: silenceMs + endlessGraceMs,
      signal: call.signal ? AbortSignal.any([call.signal, memory.signal]) : memory.signal,
      onBegin: () => {
        void this.#transport.noteAnswer(200);
        request.onBegin?.();
      },
      onChunk: (chunk) => this.#takeChunk(chunk, reader, memory),
    });
    if (end.type !== 'refused') return { value: reader.toEnd(toWatchEnd(end, { ...watching, memory })) };
    await this.#transport.noteAnswer(end.answer.status);
    return { failure: toStatusFailure(end.answer, session) };
  }

  #takeChunk(chunk: Buffer, reader: WatchReader, memory: WatchMemory): boolean | Promise<boolean> {
    const taking = reader.take(chunk);
    const entering = taking === false ? undefined : memory.hold(reader.pendingBytes);
    return entering === undefined ? taking : Promise.all([taking, entering]).then(([goesOn]) => goesOn);
  }

  async #sendHeld({ resource }: KindScope, request: ApiRequest): Promise<HeldAnswer> {
    const source = { account: this.#account, method: request.method };
    try {
      return parseHeldAnswer(await this.#transport.sendHeld(request), source);
    } catch (error) {
      throw nameResource(error, resource, { account: this.#account, request });
    }
  }
}

interface OneWatch {
  readonly request: WatchRequest;
  readonly call: ApiRequest;
  readonly reader: WatchReader;
  readonly session: Session;
  readonly silence: SilenceProbe;
  readonly memory: WatchMemory;
}

function toWatchEnd(
  end: Exclude<StreamEnd, { type: 'refused' }>,
  { reader, session, request, memory, call }: OneWatch,
): Pick<WatchEnd, 'ended' | 'error'> {
  if (end.type === 'aborted' && memory.error === undefined) return { ended: 'aborted' };
  const thrown = memory.error === undefined ? findEndError(end, reader) : describeEviction(memory.error);
  const error = thrown && withoutSecretValues(thrown, request.resource, call);
  if (error instanceof KubernetesApiError) return toWatchFailure(error);
  if (error === undefined) return { ended: end.type === 'cut' ? 'reached' : 'server-end' };
  const what = `the watch of ${request.resource.kind} broke off`;
  const message = `${session.connection.label}: ${what}: ${error.message}`;
  return { ended: 'broken', error: new KubernetesConnectionError(message, { cause: error }) };
}

function findEndError(end: StreamEnd, reader: WatchReader): Error | undefined {
  return end.type === 'broken' ? end.error : reader.error;
}

function describeEviction({ message }: AnswerLimitError): Error {
  return new Error(`one of its events ${message}`);
}
