import { asJsonArray, asString, getPath, isJsonObject, type JsonObject } from '../../../core/json.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { ApiResource, ListRequest } from './client.ts';
import { KubernetesApiError } from './errors.ts';
import type { ApiRequest } from './http.ts';
import { getCollectionPath, withQuery } from './resource-path.ts';

/** A part of a list. */
export interface ListPage {
  /** At most 500 objects, with apiVersion and kind filled in. */
  readonly items: Manifest[];
  /**
   * The list's resource version, the same on all pages of an attempt: the snapshot that they show. A watch from it tells
   * everything that came later. Empty where a server gives none; nothing can be watched there.
   */
  readonly resourceVersion: string;
  /** From 1. It rises when the list began anew since its snapshot had expired: the pages before are then worth nothing. */
  readonly attempt: number;
}

/** How lists are read. */
export interface ListOptions {
  /** How often a list may begin whose snapshot expires before it is complete. */
  readonly attempts: number;
  /** Sends a request about the listed resource; answers what the server did. */
  readonly send: (request: ApiRequest) => Promise<Manifest>;
  readonly signal?: AbortSignal | undefined;
}

/** Asks for objects with their metadata alone; servers that cannot do so answer 406. */
export const metadataListAccept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

const pageSize = 500;

/**
 * Reads a list page by page; the next page is asked for when the last one has been used. The pages show one consistent
 * snapshot, the newest at the beginning: Kubernetes keeps it for about five minutes and answers 410 after that.
 *
 * @throws KubernetesApiError also when the snapshot expired in each attempt.
 */
export async function* listPages(
  request: ListRequest,
  options: ListOptions,
): AsyncGenerator<ListPage, void, void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return yield* listSnapshot({ request, options, attempt });
    } catch (error) {
      if (!isExpired(error) || attempt >= options.attempts) throw error;
    }
  }
}

interface Snapshot {
  readonly request: ListRequest;
  readonly options: ListOptions;
  readonly attempt: number;
}

async function* listSnapshot({ request, options, attempt }: Snapshot): AsyncGenerator<ListPage, void, void> {
  const { resource, namespace, labelSelector, fieldSelector, metadataOnly } = request;
  const path = getCollectionPath(resource, namespace);
  let resourceVersion: string | undefined;
  let token: string | undefined;
  do {
    const page = await options.send({
      method: 'GET',
      path: withQuery(path, { limit: pageSize, labelSelector, fieldSelector, continue: token }),
      accept: metadataOnly ? metadataListAccept : undefined,
      compressed: true,
      signal: options.signal,
    });
    const items = asJsonArray(page['items']).map((item) => toListed(item, resource));
    // The first page's: on a server whose later pages show a later state it is the one from which nothing is missed.
    resourceVersion ??= getResourceVersion(page);
    yield { items, resourceVersion, attempt };
    token = asString(getPath(page, 'metadata', 'continue'));
  } while (token);
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
