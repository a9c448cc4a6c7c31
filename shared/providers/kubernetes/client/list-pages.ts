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
  /** At most 500 objects where the server knows pages, with apiVersion and kind filled in. */
  readonly items: Manifest[];
  /**
   * The list's resource version, the same on all pages of an attempt: the snapshot that they show. A watch from it tells
   * everything that came later. Empty where a server gives none; nothing can be watched there.
   */
  readonly resourceVersion: string;
  /** From 1. It rises when the list began anew since its snapshot had expired: the pages before are then worth nothing. */
  readonly attempt: number;
  /** As which it came, in JSON. */
  readonly bytes: number;
  /**
   * Tells that its items are held no more, before long work that does without them: other large answers are waiting for their
   * room. Asking for the next page tells it, too.
   */
  release(): void;
}

/** How lists are read. */
export interface ListOptions {
  /** The account's name, for errors. */
  readonly account: string;
  /** How often a list may begin whose snapshot expires before it is complete. */
  readonly attempts: number;
  /** How long all of it may take, milliseconds, the use of its pages included. */
  readonly durationMsMax: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Sends a request about the listed resource; answers what the server did. */
  readonly send: (request: ApiRequest) => Promise<HeldAnswer>;
  readonly signal?: AbortSignal | undefined;
}

/** Asks for objects with their metadata alone; servers that cannot do so answer 406. */
export const metadataListAccept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Asks for single objects so, as a watch has them. */
export const metadataAccept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** What a page that is too large is divided by before it is asked for again. */
const pageDivisor = 5;
/** A page should fill no more than this part of what it may: objects are not all alike. */
const pageFill = 0.5;

/**
 * Reads a list page by page; the next page is asked for when the last one has been used. The pages show one consistent
 * snapshot, the newest at the beginning: Kubernetes keeps it for about five minutes and answers 410 after that. Where objects
 * are so large that a page of them is more than an answer may be, pages get smaller.
 *
 * @throws KubernetesApiError also when the snapshot expired in each attempt, KubernetesConnectionError also when the list goes
 *   beyond a limit of `answer-limits.ts`
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
  /** Objects to ask for at a time. */
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
        // The first page's: on a server whose later pages show a later state it is the one from which nothing is missed.
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

  /** Reads the page that a token leads to, or smaller ones if it is too large. */
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

/** The error for a list that goes beyond a limit. @param problem what the list does: `has more than …` */
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

/** How many objects to ask for after a page of so many that took so much of what it may. */
function chooseSize(size: number, items: number, fill: number): number {
  if (items === 0 || fill === 0 || (size === pageSizeMax && fill <= pageFill)) return size;
  return Math.min(Math.max(Math.floor((items * pageFill) / fill), 1), pageSizeMax);
}

/** `metadata.resourceVersion` of an object or a list; empty when it has none. */
export function getResourceVersion(object: unknown): string {
  return asString(getPath(object, 'metadata', 'resourceVersion')) ?? '';
}

/** True when the server no longer has what is asked for: a snapshot, or the changes since a resource version. */
export function isExpired(error: unknown): boolean {
  return error instanceof KubernetesApiError && error.status === 410;
}

/** Items of a list lack what the list says for all of them; those with metadata alone call themselves another kind. */
function toListed(item: unknown, { apiVersion, kind }: ApiResource): JsonObject {
  const { apiVersion: _version, kind: _kind, ...members } = isJsonObject(item) ? item : {};
  return { apiVersion, kind, ...members };
}
