import { JsonBoundsError, parseBoundedJson } from '#core/bounded-json.ts';
import type { Clock } from '#core/clock.ts';
import { asString, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { answerJsonBounds, watchLineBytesMax } from '../api/answer-limits.ts';
import type { ListRequest } from '../api/client.ts';
import { type KubernetesApiError, KubernetesConnectionError, parseApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { includesVersion } from '../api/resource-version.ts';
import { getResourceVersion, isExpired } from '../client/list-pages.ts';
import { LineSplitter } from '../transport/line-splitter.ts';

/** Objects of one kind, in one namespace or, without one, in all. */
export type KindScope = Omit<ListRequest, 'labelSelector'>;

/** A change of an object. */
export interface WatchChange {
  /** `ADDED` and `MODIFIED` both carry the object's current state. */
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** For a deletion the object's last state, with the resource version of the deletion. */
  readonly object: Manifest;
}

/** What to watch. */
export interface WatchRequest extends KindScope {
  /** Changes after this version are reported, in order. */
  readonly resourceVersion: string;
  /** The server ends the stream after this time; at least 1. From 3 on it sends a bookmark two seconds before. */
  readonly timeoutSeconds: number;
  /** Ends as soon as everything up to this resource version has been reported. */
  readonly until?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when the server begins to answer: from then on it reports each change at once. Called again if a try is repeated. */
  readonly onBegin?: (() => void) | undefined;
  /**
   * Called with changes. The next ones, and the server, wait until it resolves.
   *
   * @param changes in order; empty for a bookmark, by which the server reports only its progress
   * @param resourceVersion everything up to it has been reported: where another watch can continue
   */
  onChanges(changes: readonly WatchChange[], resourceVersion: string): void | Promise<void>;
}

/** How a watch ended. */
export interface WatchEnd {
  /**
   * `server-end`: the server ended the stream normally; `reached`: it reached `until`; `expired`: the server has forgotten what happened
   * since the resource version; `broken`: see `error`.
   */
  readonly ended: 'server-end' | 'reached' | 'expired' | 'aborted' | 'broken';
  /** That of the last change or bookmark that `onChanges` received, else the one that the watch began with. */
  readonly resourceVersion: string;
  /** Reported changes, without bookmarks. */
  readonly changes: number;
  /** From the request to the end, in milliseconds. */
  readonly lastedMs: number;
  /** Given for `broken` and `expired`. */
  readonly error?: Error | undefined;
}

/** Reads a watch's stream, and keeps its progress. */
export class WatchReader {
  readonly #request: WatchRequest;
  readonly #clock: Clock;
  readonly #lines = new LineSplitter(watchLineBytesMax);
  #resourceVersion: string;
  #changes = 0;
  #beganAtMs: number | undefined;
  #error: Error | undefined;

  constructor(request: WatchRequest, clock: Clock) {
    this.#request = request;
    this.#clock = clock;
    this.#resourceVersion = request.resourceVersion;
  }

  /** Bytes of an incomplete event. */
  get pendingBytes(): number {
    return this.#lines.pendingBytes;
  }

  /** The error that the stream reported, or the fault of the stream. */
  get error(): Error | undefined {
    if (this.#error !== undefined || this.#lines.pendingBytes === 0) return this.#error;
    return new KubernetesConnectionError('the watch ended in the midst of an event');
  }

  /** Called when the watch is requested. */
  begin(): void {
    this.#beganAtMs = this.#clock.monotonic();
  }

  /** The end of the watch, with its progress. */
  toEnd(end: Pick<WatchEnd, 'ended' | 'error'>): WatchEnd {
    const lastedMs = this.#beganAtMs === undefined ? 0 : this.#clock.monotonic() - this.#beganAtMs;
    return { ...end, resourceVersion: this.#resourceVersion, changes: this.#changes, lastedMs };
  }

  /** Receives a part of the stream, cut anywhere. Returns whether the stream should continue. */
  take(chunk: Buffer): boolean | Promise<boolean> {
    const changes: WatchChange[] = [];
    let resourceVersion = this.#resourceVersion;
    try {
      for (const line of this.#lines.push(chunk)) {
        const event = parseEvent(line);
        if (event === undefined) continue;
        if (event.change !== undefined) changes.push(this.#toNamed(event.change));
        resourceVersion = event.resourceVersion;
      }
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error));
    }
    const isNew = changes.length > 0 || resourceVersion !== this.#resourceVersion;
    if (!isNew) return this.#error === undefined;
    const taking = this.#request.onChanges(changes, resourceVersion);
    const onTaken = () => this.#advance(changes.length, resourceVersion);
    return taking instanceof Promise ? taking.then(onTaken) : onTaken();
  }

  /** Objects with metadata alone name another kind. */
  #toNamed({ type, object }: WatchChange): WatchChange {
    const { metadataOnly, resource } = this.#request;
    if (!metadataOnly) return { type, object };
    const { apiVersion, kind } = resource;
    return { type, object: { ...object, apiVersion, kind } };
  }

  #advance(changes: number, resourceVersion: string): boolean {
    this.#changes += changes;
    this.#resourceVersion = resourceVersion;
    const { until } = this.#request;
    return this.#error === undefined && (until === undefined || !includesVersion(resourceVersion, until));
  }
}

/** Distinguishes a refusal because of age from others. */
export function toWatchFailure(error: Error): Pick<WatchEnd, 'ended' | 'error'> {
  return { ended: isExpired(error) ? 'expired' : 'broken', error };
}

interface ParsedEvent {
  readonly resourceVersion: string;
  /** Undefined for a bookmark. */
  readonly change: WatchChange | undefined;
}

/** @throws KubernetesApiError for an error event, KubernetesConnectionError for anything but an event. */
function parseEvent(line: string): ParsedEvent | undefined {
  const { type, object } = parseLine(line);
  if (type === 'ERROR') throw toEventError(object);
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') return undefined;
  const resourceVersion = getResourceVersion(object);
  if (resourceVersion === '') throw new KubernetesConnectionError('the watch has an event without a version');
  return { resourceVersion, change: type === 'BOOKMARK' ? undefined : { type, object } };
}

function parseLine(line: string): { readonly type: string | undefined; readonly object: JsonObject } {
  const event = parseLineJson(line);
  const object = isJsonObject(event) ? event['object'] : undefined;
  if (!isJsonObject(event) || !isJsonObject(object)) {
    throw new KubernetesConnectionError('the watch has an event without an object');
  }
  return { type: asString(event['type']), object };
}

function parseLineJson(line: string): JsonValue {
  try {
    return parseBoundedJson(line, answerJsonBounds).value;
  } catch (error) {
    const problem = error instanceof JsonBoundsError ? error.message : 'is no JSON';
    throw new KubernetesConnectionError(`the watch has an event that ${problem}`);
  }
}

/** An error event's object is a Status. */
function toEventError(status: JsonObject): KubernetesApiError {
  const code = typeof status['code'] === 'number' ? status['code'] : 500;
  return parseApiError(code, JSON.stringify({ ...status, kind: 'Status' }));
}
