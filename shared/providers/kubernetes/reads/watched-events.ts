import { getErrorMessage } from '#core/errors.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { KubernetesSession } from '../account/session.ts';
import type { CallOptions, ListRequest } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { readName } from '../manifest/identity.ts';
import type { WatchChange } from '../watch/watch.ts';
import type { WatchClient } from '../watch/watch-client.ts';

/**
 * Duration of a watch of an object's events, and the time within which a second read of them starts one, seconds. It bounds how long a
 * broken connection can hide events.
 */
export const eventWatchSeconds = 120;

/** Objects whose events are watched at once, in all accounts: each takes a connection. Events of others are listed each time. */
export const watchedObjectsMax = 32;

/** Bytes of JSON kept of an object's events; the events of an object with more are listed each time. */
export const watchedEventsBytesMax = 256 << 10;

/** Lists of events that are remembered, to recognize a second one; the oldest are forgotten. */
const rememberedListsMax = 512;

/** Pause of an account's watches after one failed, milliseconds: it may not be allowed. */
const failurePauseMs = 300_000;

/** The object whose events are meant. */
export interface EventScope extends ListRequest {
  readonly account: KubernetesAccount;
}

/**
 * The events about objects that are read repeatedly, as when a user looks at one. An API server has no index of events: to find an
 * object's, it reads all in the namespace. The second read within two minutes therefore starts a watch, which reports changes at once;
 * while it lasts, events are returned without a call. Nothing is kept where processes may be frozen between calls: a frozen process
 * receives nothing from a watch.
 */
export class WatchedEvents {
  readonly #session: KubernetesSession;
  readonly #watched = new Map<string, ObjectEvents>();
  /** When events were last listed, by the monotonic clock, the oldest first. */
  readonly #listedAtMs = new Map<string, number>();
  /** When a watch last failed, by account. */
  readonly #failedAtMs = new Map<string, number>();

  constructor(session: KubernetesSession) {
    this.#session = session;
  }

  /**
   * The events of a scope, in any order. Events from a watch keep changing until the caller has iterated them.
   *
   * @param list lists the events, and refuses what is outside the account's bounds
   * @throws what `list` throws, and what other lists throw
   */
  async read(
    scope: EventScope,
    list: () => Promise<Manifest[]>,
    options?: CallOptions,
  ): Promise<Iterable<Manifest>> {
    const key = JSON.stringify([scope.account.name, scope.namespace, scope.fieldSelector]);
    const known = this.#watched.get(key);
    if (known?.isCurrent) return known.values();
    const isSecond = this.#remember(key);
    const opening = isSecond && this.#mayWatch(key, scope) && this.#session.findWatchClient(scope.account);
    return opening ? this.#listAndWatch(key, { scope, options }, await opening) : list();
  }

  /** Notes a list that begins now. Returns whether there was one shortly before. */
  #remember(key: string): boolean {
    const nowMs = this.#session.clock.monotonic();
    const lastMs = this.#listedAtMs.get(key);
    this.#listedAtMs.delete(key);
    this.#listedAtMs.set(key, nowMs);
    const [oldest] = this.#listedAtMs.keys();
    if (this.#listedAtMs.size > rememberedListsMax && oldest !== undefined) this.#listedAtMs.delete(oldest);
    return lastMs !== undefined && nowMs - lastMs < eventWatchSeconds * 1000;
  }

  #mayWatch(key: string, { account }: EventScope): boolean {
    const failedAtMs = this.#failedAtMs.get(account.name) ?? Number.NEGATIVE_INFINITY;
    const isPaused = this.#session.clock.monotonic() - failedAtMs < failurePauseMs;
    return !isPaused && !this.#watched.has(key) && this.#watched.size < watchedObjectsMax;
  }

  async #listAndWatch(
    key: string,
    { scope, options }: Reading,
    client: WatchClient,
  ): Promise<Iterable<Manifest>> {
    const events = new ObjectEvents();
    this.#watched.set(key, events);
    let resourceVersion = '';
    try {
      for await (const page of client.listFrom(scope, options)) {
        for (const item of page.items) events.put(item);
        ({ resourceVersion } = page);
      }
    } catch (error) {
      this.#watched.delete(key);
      throw error;
    }
    if (resourceVersion === '' || events.bytes > watchedEventsBytesMax) this.#watched.delete(key);
    else void this.#watch(key, { scope, client, events, resourceVersion });
    return events.values();
  }

  /** Watches until the watch ends for any reason: the next reads list again. Never rejects. */
  async #watch(key: string, { scope, client, events, resourceVersion }: Watching): Promise<void> {
    const tooMuch = new AbortController();
    const { error } = await client
      .watch({
        ...scope,
        resourceVersion,
        timeoutSeconds: eventWatchSeconds,
        signal: tooMuch.signal,
        onBegin: () => {
          events.isCurrent = true;
        },
        onChanges(changes) {
          events.apply(changes);
          if (events.bytes > watchedEventsBytesMax) tooMuch.abort();
        },
      })
      .catch((reason: unknown) => ({ error: reason }));
    this.#watched.delete(key);
    if (error === undefined) return;
    const { clock, log } = this.#session;
    const account = scope.account.name;
    this.#failedAtMs.set(account, clock.monotonic());
    const reason = getErrorMessage(error);
    log.info('events about an object cannot be watched: each read lists them', { account, reason });
  }
}

/** A read that lists. */
interface Reading {
  readonly scope: EventScope;
  readonly options: CallOptions | undefined;
}

/** A watch, and where it starts. */
interface Watching extends Pick<Reading, 'scope'> {
  readonly client: WatchClient;
  readonly events: ObjectEvents;
  readonly resourceVersion: string;
}

/** The events about one object, which are all in one namespace. */
class ObjectEvents {
  /** Whether a watch reports changes: before that the events may be outdated. */
  isCurrent = false;
  /** Size of all events as JSON. */
  bytes = 0;
  readonly #byName = new Map<string, { readonly event: Manifest; readonly bytes: number }>();

  /** The events at the time of iteration. */
  *values(): Generator<Manifest> {
    for (const { event } of this.#byName.values()) yield event;
  }

  put(event: Manifest): void {
    const bytes = JSON.stringify(event).length;
    this.#byName.set(readName(event), { event, bytes });
    this.bytes += bytes;
  }

  apply(changes: readonly WatchChange[]): void {
    for (const { type, object } of changes) {
      const name = readName(object);
      this.bytes -= this.#byName.get(name)?.bytes ?? 0;
      this.#byName.delete(name);
      if (type !== 'DELETED') this.put(object);
    }
  }
}
