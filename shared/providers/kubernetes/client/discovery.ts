import type { Clock } from '#core/clock.ts';
import { untilAborted } from '#core/deadline.ts';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import {
  AnswerLimitError,
  discoveryResourcesMax,
  discoveryVersionBytesMax,
  discoveryVersionsMax,
  pageBytesMax,
} from '../api/answer-limits.ts';
import { builtInResources } from '../api/built-in-resources.ts';
import type { ApiResource, CallOptions } from '../api/client.ts';
import { KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import type { ApiRequest } from '../transport/http.ts';
import type { FoundDiscovery, FoundResource, SharedDiscovery } from './stored-discovery.ts';

/** The options of discovery. */
export interface DiscoveryOptions {
  /** The account's name, for errors. */
  readonly account: string;
  readonly clock: Clock;
  readonly getJson: DocumentReader;
  /** Gets a document, unless it still matches `ifNoneMatch`. */
  readonly getDocument: (request: DocumentRequest) => Promise<DocumentAnswer>;
  /** The discovery that processes share. Default: each process asks its server. */
  readonly shared?: SharedDiscovery | undefined;
}

/** A discovery document, or the answer that it did not change. */
export interface DocumentAnswer {
  /** Undefined if `ifNoneMatch` still matches. */
  readonly document: JsonObject | undefined;
  readonly etag: string | undefined;
}

/** A discovery document to get. */
export type DocumentRequest = Pick<
  ApiRequest,
  'path' | 'accept' | 'answerBytesMax' | 'ifNoneMatch' | 'signal'
>;

/** Gets a path, parsed. */
type DocumentReader = (request: DocumentRequest) => Promise<JsonObject>;

/** A resource in a cluster's discovery document. */
export interface ServedResource {
  readonly resource: ApiResource;
  /** Whether it can be listed and watched. */
  readonly isWatchable: boolean;
}

/** Resources by lookup key; of equal keys the first, preferred one stays. */
class ResourceIndex {
  readonly #byVersion = new Map<string, ApiResource>();
  readonly #byKind = new Map<string, ApiResource>();

  constructor(resources: readonly ApiResource[]) {
    for (const resource of resources) {
      const kind = resource.kind.toLowerCase();
      setFirst(this.#byVersion, `${resource.apiVersion} ${resource.kind}`, resource);
      setFirst(this.#byKind, `${kind}.${getGroup(resource.apiVersion)}`, resource);
      setFirst(this.#byKind, kind, resource);
    }
  }

  find(apiVersion: string, kind: string): ApiResource | undefined {
    return this.#byVersion.get(`${apiVersion} ${kind}`);
  }

  findOfKind(kind: string): ApiResource | undefined {
    return this.#byKind.get(kind.toLowerCase());
  }
}

/** All of a cluster's API groups in one answer, since Kubernetes 1.26 (v2beta1) and 1.30 (v2). */
const aggregatedAccept = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');
/** The document that lists all resources, or the further documents. */
const rootRequest = { path: '/apis', accept: aggregatedAccept, answerBytesMax: pageBytesMax };
const timeToLiveMs = 300_000;
/** Misses do not cause the cluster's resources to be read more often than this. */
const refreshIntervalMs = 1_000;
/** A new CustomResourceDefinition is served within this time … */
const settleTimeMs = 5_000;
/** … during which misses may cause the document to be read this often. */
const unsettledIntervalMs = 100;

const builtIn = new ResourceIndex(builtInResources);
const builtInVersions = new Set(builtInResources.map(({ apiVersion }) => apiVersion));
const builtInGroups = new Set(builtInResources.map(({ apiVersion }) => getGroup(apiVersion)));

/**
 * Knows where a cluster serves its kinds: built-in ones from a table, others from one discovery document, which is remembered for five
 * minutes. A new process first looks at what other processes have read. A kind is reported missing only if a document read after the
 * question lacks it.
 */
export class ResourceDiscovery {
  readonly #options: DiscoveryOptions;
  #known: KnownResources | undefined;
  /** Until when kinds found in the index need no request. */
  #goodUntilMs = Number.NEGATIVE_INFINITY;
  /** When reading the index began. */
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** Until when new kinds may still appear on the server. */
  #settledAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** The look at other processes' discovery: once in the life of a process, which knows better afterwards. */
  #adopting: Promise<void> | undefined;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** See `KubernetesClient.getResource`. */
  async getResource(apiVersion: string, kind: string, options?: CallOptions): Promise<ApiResource> {
    const known = builtIn.find(apiVersion, kind);
    if (known !== undefined) return known;
    const found = await this.#search((index) => index.find(apiVersion, kind), options);
    if (found !== undefined) return found;
    throw this.#noMatch(`no matches for kind "${kind}" in version "${apiVersion}"`);
  }

  /** See `KubernetesClient.getResourceOfKind`. */
  async getResourceOfKind(kind: string, options?: CallOptions): Promise<ApiResource> {
    const known = builtIn.findOfKind(kind);
    if (known !== undefined) return known;
    const found = await this.#search((index) => index.findOfKind(kind), options);
    if (found !== undefined) return found;
    throw this.#noMatch(`no matches for kind "${kind}"`);
  }

  /**
   * Notes that a CustomResourceDefinition was just written: a server takes a moment to serve its kind, and a kind not found meanwhile is
   * looked up again.
   */
  expectNewKinds(): void {
    this.#settledAtMs = this.#options.clock.monotonic() + settleTimeMs;
  }

  /** Notes that the server does not serve what is remembered: the next lookup reads a new document. */
  forget(): void {
    this.#known = undefined;
  }

  async #search(
    find: (index: ResourceIndex) => ApiResource | undefined,
    options?: CallOptions,
  ): Promise<ApiResource | undefined> {
    const { clock } = this.#options;
    const { shared } = this.#options;
    if (shared !== undefined) {
      this.#adopting ??= this.#adopt(shared).catch((error: unknown) => {
        this.#adopting = undefined;
        throw error;
      });
      await untilAborted(this.#adopting, options?.signal);
    }
    const isGood = clock.monotonic() < this.#goodUntilMs;
    const remembered = isGood && this.#known !== undefined ? find(this.#known.index) : undefined;
    if (remembered !== undefined) return remembered;
    for (;;) {
      const askedAtMs = clock.monotonic();
      const found = find(await this.#getIndexSince(askedAtMs, options?.signal));
      if (found !== undefined || askedAtMs >= this.#settledAtMs) return found;
      await clock.sleep(unsettledIntervalMs, options?.signal);
    }
  }

  /** The index, read at `askedAtMs` or later. */
  async #getIndexSince(askedAtMs: number, signal: AbortSignal | undefined): Promise<ResourceIndex> {
    const { clock } = this.#options;
    while (this.#known === undefined || this.#readAtMs < askedAtMs) {
      const intervalMs = askedAtMs < this.#settledAtMs ? unsettledIntervalMs : refreshIntervalMs;
      const pauseMs = this.#readAtMs + intervalMs - clock.monotonic();
      if (this.#reading === undefined && pauseMs > 0) await clock.sleep(pauseMs, signal);
      await untilAborted(this.#refresh(), signal);
    }
    return this.#known.index;
  }

  /** Reads the document again, or joins a read in progress. */
  #refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Adopts what another process has read. Kinds missing there are looked up on the server. */
  async #adopt(shared: SharedDiscovery): Promise<void> {
    const found = await shared.find(await shared.getServer());
    if (found === undefined) return;
    this.#known = toKnown(found);
    this.#goodUntilMs = this.#options.clock.monotonic() + found.goodForMs;
  }

  async #read(): Promise<void> {
    const { clock, shared } = this.#options;
    const startedAtMs = clock.monotonic();
    const server = await shared?.getServer();
    const known = await this.#readChanges(this.#known);
    this.#known = known;
    this.#readAtMs = startedAtMs;
    this.#goodUntilMs = startedAtMs + timeToLiveMs;
    if (server !== undefined) await shared?.put(known, server);
  }

  /** The resources that the server serves now: the known ones, if it answers that nothing changed. */
  async #readChanges(known: KnownResources | undefined): Promise<KnownResources> {
    const { account, getJson, getDocument } = this.#options;
    const { document, etag } = await getDocument({ ...rootRequest, ifNoneMatch: known?.etag });
    if (document === undefined && known !== undefined) return known;
    const served = await listServed(document ?? {}, { account, getJson });
    // The ETag of a document that only names others does not cover those.
    return toKnown({
      resources: served.map(({ resource }) => resource),
      etag: document !== undefined && isAggregated(document) ? etag : undefined,
    });
  }

  #noMatch(problem: string): KubernetesApiError {
    const { account } = this.#options;
    const message = `${problem}: the cluster of account "${account}" does not serve it; is its CustomResourceDefinition installed?`;
    return new KubernetesApiError(404, 'NotFound', message);
  }
}

/**
 * Reads what a cluster serves outside the core group, in order of preference: one document, and on servers before Kubernetes 1.26 one more
 * for each version of each group that is not built in. On those servers the built-in groups are missing.
 *
 * @throws KubernetesConnectionError if there are more than `discoveryResourcesMax` and `discoveryVersionsMax`, and what `getJson` throws
 */
export async function readServedResources(
  account: string,
  getJson: DocumentReader,
): Promise<ServedResource[]> {
  return listServed(await getJson(rootRequest), { account, getJson });
}

/** The resources of the root document, and of the documents that it refers to. */
async function listServed(
  document: JsonObject,
  { account, getJson }: Pick<DiscoveryOptions, 'account' | 'getJson'>,
): Promise<ServedResource[]> {
  const found = new FoundResources(account);
  if (isAggregated(document)) {
    for (const resource of listAggregated(document)) found.add(resource);
    return found.list;
  }
  const versions = asJsonArray(document['groups'])
    .flatMap(parseGroupVersions)
    .filter((version) => !builtInVersions.has(version));
  if (versions.length > discoveryVersionsMax) throw found.refuse(discoveryVersionsMax, 'group versions');
  const lists = await Promise.all(versions.map((version) => readVersion(version, getJson, found)));
  return lists.flat();
}

/** Whether a document lists all resources by itself. */
function isAggregated(document: JsonObject): boolean {
  return asString(document['kind']) === 'APIGroupDiscoveryList';
}

/** The known resources of a cluster, ready to be searched. */
interface KnownResources extends FoundDiscovery {
  readonly index: ResourceIndex;
}

function toKnown({ resources, etag }: FoundDiscovery): KnownResources {
  return { resources, etag, index: new ResourceIndex(resources.map(toResource)) };
}

/** The resources in a cluster's documents, up to the limit. */
class FoundResources {
  readonly list: ServedResource[] = [];
  readonly #account: string;

  constructor(account: string) {
    this.#account = account;
  }

  add(resource: ServedResource): void {
    if (this.list.length >= discoveryResourcesMax) throw this.refuse(discoveryResourcesMax, 'resources');
    this.list.push(resource);
  }

  refuse(most: number, what: string): KubernetesConnectionError {
    const problem = `has more than ${most} ${what}`;
    const cause = new AnswerLimitError(problem, false);
    return new KubernetesConnectionError(`account "${this.#account}": its discovery ${problem}`, { cause });
  }
}

/** A group whose server is unavailable must not hide the others: it counts as empty. */
async function readVersion(
  apiVersion: string,
  getJson: DocumentReader,
  found: FoundResources,
): Promise<ServedResource[]> {
  const path = `/apis/${apiVersion}`;
  const answerBytesMax = discoveryVersionBytesMax;
  const list = await getJson({ path, accept: 'application/json', answerBytesMax }).catch((error: unknown) => {
    if (error instanceof KubernetesApiError) return undefined;
    throw error;
  });
  const resources = asJsonArray(list?.['resources']).flatMap((resource) =>
    parseResource(apiVersion, resource),
  );
  for (const resource of resources) found.add(resource);
  return resources;
}

function setFirst(map: Map<string, ApiResource>, key: string, resource: ApiResource): void {
  if (!map.has(key)) map.set(key, resource);
}

function getGroup(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

function isBuiltInGroup(apiVersion: string): boolean {
  return builtInGroups.has(getGroup(apiVersion));
}

/** Resources of an APIGroupDiscoveryList, whose versions are in order of preference. */
function* listAggregated(document: JsonObject): Generator<ServedResource> {
  for (const item of asJsonArray(document['items'])) {
    const group = asString(getPath(item, 'metadata', 'name')) ?? '';
    for (const version of asJsonArray(getPath(item, 'versions'))) {
      const apiVersion = `${group}/${asString(getPath(version, 'version')) ?? ''}`;
      yield* asJsonArray(getPath(version, 'resources')).flatMap((each) => parseDiscovered(apiVersion, each));
    }
  }
}

function parseDiscovered(apiVersion: string, resource: unknown): ServedResource[] {
  const kind = asString(getPath(resource, 'responseKind', 'kind'));
  const plural = asString(getPath(resource, 'resource'));
  if (!kind || !plural) return [];
  const namespaced = getPath(resource, 'scope') === 'Namespaced';
  return [toServed({ apiVersion, kind, plural, namespaced }, asJsonArray(getPath(resource, 'verbs')))];
}

/** The group's versions, the preferred one first. */
function parseGroupVersions(group: unknown): string[] {
  const preferred = asString(getPath(group, 'preferredVersion', 'groupVersion'));
  const versions = asJsonArray(getPath(group, 'versions')).map((each) =>
    asString(getPath(each, 'groupVersion')),
  );
  return [...new Set([preferred, ...versions])].filter((version) => version !== undefined);
}

/** A resource of an APIResourceList; subresources have a slash in their names. */
function parseResource(apiVersion: string, value: unknown): ServedResource[] {
  const resource = asJsonObject(value);
  const kind = asString(resource?.['kind']);
  const plural = asString(resource?.['name']);
  if (!kind || !plural || plural.includes('/')) return [];
  const namespaced = resource?.['namespaced'] === true;
  return [toServed({ apiVersion, kind, plural, namespaced }, asJsonArray(resource?.['verbs']))];
}

function toServed(found: FoundResource, verbs: readonly unknown[]): ServedResource {
  const isWatchable = verbs.includes('list') && verbs.includes('watch');
  return { resource: toResource(found), isWatchable };
}

function toResource({ apiVersion, kind, plural, namespaced }: FoundResource): ApiResource {
  return { apiVersion, kind, plural, namespaced, builtIn: isBuiltInGroup(apiVersion) };
}
