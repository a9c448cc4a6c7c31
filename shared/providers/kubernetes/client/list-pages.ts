import type { Clock } from '#core/clock.ts';
import { asJsonArray, asString, getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import {
  AnswerLimitError,
  listItemsMax,
  pageBytesMax,
  pageItemsMax,
  pageSizeMax,
} from '../api/answer-limits.ts';
import type { ApiResource, ListRequest } from '../api/client.ts';
import { KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { getCollectionPath, withQuery } from '../api/resource-path.ts';
import type { ApiRequest } from '../transport/http.ts';
import type { HeldAnswer } from './json-answer.ts';

/** A part of a list. */
export interface ListPage {
  /** At most 500 objects if the server supports pages, with apiVersion and kind filled in. */
  readonly items: Manifest[];
  /**
   * The list's resource version, the same on all pages of an attempt: their snapshot. A watch from it reports everything later. Empty if a
   * server gives none; nothing can be watched there.
   */
  readonly resourceVersion: string;
  /** From 1. It increases when the list starts again because its snapshot expired: discard the earlier pages then. */
  readonly attempt: number;
  /** Size of the page as JSON. */
  readonly bytes: number;
  /**
   * Call it when the items are not held any more, before long work without them: other large answers wait for their memory. Requesting the
   * next page has the same effect.
   */
  release(): void;
}

/** How lists are read. */
export interface ListOptions {
  /** The account's name, for errors. */
  readonly account: string;
  /** Attempts at a list whose snapshot expires before it is complete. */
  readonly attempts: number;
  /** How long the whole list may take, milliseconds, including the use of its pages. */
  readonly durationMsMax: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Sends a request about the listed resource, and returns the server's answer. */
  readonly send: (request: ApiRequest) => Promise<HeldAnswer>;
  readonly signal?: AbortSignal | undefined;
}

/** Requests objects with only their metadata; servers without support answer 406. */
export const metadataListAccept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** The same for single objects, as in a watch. */
export const metadataAccept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** The divisor of the page size before a page that is too large is requested again. */
const pageDivisor = 5;
/** The share of the limit that a page should fill: objects differ in size. */
const pageFill = 0.5;

/**
 * Reads a list page by page; the next page is requested once the last one has been used. The pages show one consistent snapshot, the newest
 * at the beginning: Kubernetes keeps it for about five minutes and answers 410 after that. If a page of large objects exceeds the limit of
 * an answer, pages get smaller.
 *
 * @throws KubernetesApiError also if the snapshot expired in each attempt, KubernetesConnectionError also if the list exceeds a limit of
 *   `answer-limits.ts`
 */
export async function* listPages(
  request: ListRequest,
  options: ListOptions,
): AsyncGenerator<ListPage, void, void> {
  const endsAtMs = options.clock.monotonic() + options.durationMsMax;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return yield* new Snapshot({ request, options, attempt, endsAtMs }).list();
    } catch (error) {
      if (!isExpired(error) || attempt >= options.attempts) throw error;
    }
  }
}

interface SnapshotOptions {
  readonly request: ListRequest;
  readonly options: ListOptions;
  readonly attempt: number;
  readonly endsAtMs: number;
}

/** One attempt to read a list. */
class Snapshot {
  readonly #what: SnapshotOptions;
  /** Objects to request at a time. */
  #size = pageSizeMax;
  #items = 0;

  constructor(what: SnapshotOptions) {
    this.#what = what;
  }

  async *list(): AsyncGenerator<ListPage, void, void> {
    const { attempt } = this.#what;
    let resourceVersion: string | undefined;
    let token: string | undefined;
    do {
      const { value, release, bytes, fill } = await this.#readPage(token);
      try {
        const items = this.#toItems(value['items']);
        // The first page's: on a server whose later pages show a later state, a watch from it misses nothing.
        resourceVersion ??= getResourceVersion(value);
        this.#size = chooseSize(this.#size, items.length, fill);
        yield { items, resourceVersion, attempt, bytes, release };
      } finally {
        release();
      }
      const next = asString(getPath(value, 'metadata', 'continue'));
      if (next && next === token) throw this.#refuse('does not go on: its pages name themselves as the next');
      token = next;
    } while (token);
  }

  #toItems(value: unknown): Manifest[] {
    const items = asJsonArray(value);
    if (items.length > pageItemsMax) throw this.#refuse(`has more than ${pageItemsMax} objects in a page`);
    this.#items += items.length;
    if (this.#items > listItemsMax) throw this.#refuse(`has more than ${listItemsMax} objects`);
    return items.map((item) => toListed(item, this.#what.request.resource));
  }

  /** Reads the page for a token, or smaller ones if it is too large. */
  async #readPage(token: string | undefined): Promise<HeldAnswer> {
    for (;;) {
      this.#checkTime();
      try {
        return await this.#what.options.send(this.#toRequest(token));
      } catch (error) {
        if (!isTooLarge(error) || this.#size === 1) throw error;
        this.#size = Math.floor(this.#size / pageDivisor) || 1;
      }
    }
  }

  #toRequest(token: string | undefined): ApiRequest {
    const { request, options } = this.#what;
    const { resource, namespace, labelSelector, fieldSelector, metadataOnly } = request;
    const query = { limit: this.#size, labelSelector, fieldSelector, continue: token };
    return {
      method: 'GET',
      path: withQuery(getCollectionPath(resource, namespace), query),
      accept: metadataOnly ? metadataListAccept : undefined,
      compressed: true,
      answerBytesMax: pageBytesMax,
      signal: options.signal,
    };
  }

  #checkTime(): void {
    const { options, endsAtMs } = this.#what;
    if (options.clock.monotonic() < endsAtMs) return;
    throw this.#refuse(`is not complete after ${options.durationMsMax / 1000} s`);
  }

  #refuse(problem: string): KubernetesConnectionError {
    return createListError(problem, this.#what.request, this.#what.options.account);
  }
}

/** The error for a list that exceeds a limit. @param problem what the list does: `has more than …` */
export function createListError(
  problem: string,
  { resource }: ListRequest,
  account: string,
): KubernetesConnectionError {
  const cause = new AnswerLimitError(problem, false);
  return new KubernetesConnectionError(`account "${account}": the list of ${resource.kind} ${problem}`, {
    cause,
  });
}

function isTooLarge(error: unknown): boolean {
  return (
    error instanceof KubernetesConnectionError &&
    error.cause instanceof AnswerLimitError &&
    error.cause.isOfSize
  );
}

/** How many objects to request next, by the size and fill of the last page. */
function chooseSize(size: number, items: number, fill: number): number {
  if (items === 0 || fill === 0 || (size === pageSizeMax && fill <= pageFill)) return size;
  return Math.min(Math.max(Math.floor((items * pageFill) / fill), 1), pageSizeMax);
}

/** `metadata.resourceVersion` of an object or a list; empty if it has none. */
export function getResourceVersion(object: unknown): string {
  return asString(getPath(object, 'metadata', 'resourceVersion')) ?? '';
}

/** True if the server has discarded what is requested: a snapshot, or the changes since a resource version. */
export function isExpired(error: unknown): boolean {
  return error instanceof KubernetesApiError && error.status === 410;
}

/** Adds to an item what the list says for all of them; items with only metadata name another kind. */
function toListed(item: unknown, { apiVersion, kind }: ApiResource): JsonObject {
  const { apiVersion: _version, kind: _kind, ...members } = isJsonObject(item) ? item : {};
  return { apiVersion, kind, ...members };
}
