import { AccountBreaker } from '#accounts/model/account-breaker.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { asString, getPath } from '#core/json.ts';
import type { DiscoveryStore } from '#provider-kit/discovery-store.ts';
import { type BudgetLimits, RequestBudget } from '#provider-kit/request-budget.ts';
import { AnswerLimitError, gatheredListDurationMsMax, textBytesMax } from '../api/answer-limits.ts';
import type {
  AccountClient,
  ApiResource,
  CallOptions,
  DeleteRequest,
  KubernetesClient,
  ListRequest,
  ObjectRef,
  PatchRequest,
  WriteOptions,
} from '../api/client.ts';
import { isObjectNotFound, isResourceNotServed } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { checkPath, getCollectionPath, getObjectPath, withQuery } from '../api/resource-path.ts';
import type { ConnectionOptions, KubernetesConnection } from '../credentials/connection.ts';
import { type ApiRequest, ApiTransport } from '../transport/http.ts';
import type { LivenessProbeTimes } from '../transport/liveness-probe.ts';
import { SessionKeeper } from '../transport/session.ts';
import { type DocumentAnswer, type DocumentRequest, ResourceDiscovery } from './discovery.ts';
import { gatheredLists } from './gathered-lists.ts';
import { type HeldAnswer, nameResource, parseHeldAnswer, parseJsonAnswer } from './json-answer.ts';
import { createListError, type ListOptions, listPages } from './list-pages.ts';
import { findEtag, SharedDiscovery } from './stored-discovery.ts';

/** The options of a client. */
export interface KubernetesClientOptions extends ConnectionOptions {
  readonly connection: KubernetesConnection;
  readonly randomness: Randomness;
  /** Default: 200 requests a second, 400 at once. */
  readonly budget?: BudgetLimits | undefined;
  /** Knows whether the server can be reached. Default: one for this client alone. */
  readonly breaker?: AccountBreaker | undefined;
  /** Opens the discovery that processes share, on first use. Default: each process asks its server. */
  readonly openDiscoveryStore?: (() => Promise<DiscoveryStore>) | undefined;
  /** When a server that answers nothing counts as dead. Default: after 14 s. */
  readonly probeTimes?: LivenessProbeTimes | undefined;
}

const defaultTimeoutSeconds = 30;
/**
 * Enough that users and pipelines never wait: one deploy makes two requests in about ten milliseconds. API Priority and Fairness protects
 * the API server; this keeps one process from using all of its capacity.
 */
const defaultBudget: BudgetLimits = { qps: 200, burst: 400 };

const patchTypes: Readonly<Record<PatchRequest['type'], string>> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
};

/**
 * A client of one account's API server. Creating one reads nothing and connects to nothing: the first call does, and throws errors in the
 * account's settings.
 */
export function createKubernetesClient(options: KubernetesClientOptions): AccountClient {
  return new ApiServerClient(openParts(options));
}

/** The parts that an account's clients share. */
interface ClientParts {
  readonly account: string;
  readonly clock: Clock;
  readonly sessions: SessionKeeper;
  readonly transport: ApiTransport;
  readonly discovery: ResourceDiscovery;
}

function openParts(options: KubernetesClientOptions): ClientParts {
  const { connection, clock, randomness, log, openDiscoveryStore: openStore } = options;
  const account = connection.name;
  const sessions = new SessionKeeper(options);
  const transport = new ApiTransport({
    account,
    sessions,
    budget: new RequestBudget(options.budget ?? defaultBudget, clock),
    clock,
    randomness,
    breaker: options.breaker ?? new AccountBreaker({ account, clock, log }),
    probeTimes: options.probeTimes,
    requestTimeoutMs: (connection.requestTimeoutSeconds ?? defaultTimeoutSeconds) * 1000,
  });
  const discovery = new ResourceDiscovery({
    account,
    clock,
    getJson: async ({ path, accept, answerBytesMax, signal }) => {
      const request: ApiRequest = { method: 'GET', path, accept, answerBytesMax, compressed: true, signal };
      return parseJsonAnswer(await transport.send(request), account, 'GET');
    },
    getDocument: (request) => getDocument(transport, account, request),
    shared:
      openStore &&
      new SharedDiscovery({
        account,
        clock,
        log,
        openStore,
        getServer: async () => (await transport.getSession()).connection,
      }),
  });
  return { account, clock, sessions, transport, discovery };
}

async function getDocument(
  transport: ApiTransport,
  account: string,
  request: DocumentRequest,
): Promise<DocumentAnswer> {
  const held = await transport.sendHeld({ ...request, method: 'GET', compressed: true });
  const { text, etag, isUnchanged, release } = held;
  release();
  if (isUnchanged) return { document: undefined, etag: request.ifNoneMatch };
  return { document: parseJsonAnswer(text, account, 'GET'), etag: findEtag(etag) };
}

class ApiServerClient implements AccountClient {
  readonly #parts: ClientParts;
  readonly #persists: boolean;

  constructor(parts: ClientParts, persists = false) {
    this.#parts = parts;
    this.#persists = persists;
  }

  get persistent(): KubernetesClient {
    return new ApiServerClient(this.#parts, true);
  }

  isReachable(): Promise<boolean> {
    return this.#parts.transport.isReachable();
  }

  getResource(apiVersion: string, kind: string, options?: CallOptions): Promise<ApiResource> {
    return this.#parts.discovery.getResource(apiVersion, kind, options);
  }

  getResourceOfKind(spinnakerKind: string, options?: CallOptions): Promise<ApiResource> {
    return this.#parts.discovery.getResourceOfKind(spinnakerKind, options);
  }

  async getDefaultNamespace(options?: CallOptions): Promise<string> {
    return (await this.#parts.transport.getSession(options?.signal)).connection.namespace;
  }

  async get(ref: ObjectRef, options?: CallOptions): Promise<Manifest | undefined> {
    const path = await this.#getPath(ref, options);
    return this.#unlessMissing(this.#sendTo(ref.resource, { method: 'GET', path, signal: options?.signal }));
  }

  async list(request: ListRequest, options?: CallOptions): Promise<Manifest[]> {
    let found: Manifest[] = [];
    let attempts = 1;
    const gathered = gatheredLists.begin(this.#parts.account, () => {
      found = [];
    });
    try {
      for await (const page of listPages(request, this.#getListOptions(request, options))) {
        if (page.attempt > attempts) {
          found = [];
          gathered.reset();
        }
        attempts = page.attempt;
        gathered.add(page.bytes);
        for (const item of page.items) found.push(item);
      }
      return found;
    } catch (error) {
      if (!(error instanceof AnswerLimitError)) throw error;
      throw createListError(error.message, request, this.#parts.account);
    } finally {
      gathered.end();
    }
  }

  #getListOptions({ resource }: ListRequest, options: CallOptions = {}): ListOptions {
    return {
      account: this.#parts.account,
      attempts: 2,
      durationMsMax: gatheredListDurationMsMax,
      clock: this.#parts.clock,
      send: (request) => this.#sendAbout(resource, request, (page) => this.#sendForPage(page)),
      signal: options.signal,
    };
  }

  async create(
    resource: ApiResource,
    manifest: Manifest,
    options?: WriteOptions & CallOptions,
  ): Promise<Manifest> {
    const namespace = await this.#getNamespace(
      resource,
      asString(getPath(manifest, 'metadata', 'namespace')),
      options,
    );
    const path = withQuery(getCollectionPath(resource, namespace), getWriteQuery(options));
    return this.#write(resource, {
      method: 'POST',
      path,
      body: JSON.stringify(manifest),
      signal: options?.signal,
    });
  }

  async replace(
    resource: ApiResource,
    manifest: Manifest,
    options?: WriteOptions & CallOptions,
  ): Promise<Manifest> {
    const ref = {
      resource,
      namespace: asString(getPath(manifest, 'metadata', 'namespace')),
      name: asString(getPath(manifest, 'metadata', 'name')) ?? '',
    };
    const path = withQuery(await this.#getPath(ref, options), getWriteQuery(options));
    return this.#write(resource, {
      method: 'PUT',
      path,
      body: JSON.stringify(manifest),
      // Without a version it would undo what another client wrote meanwhile.
      repeatable: !options?.looksFirst && getPath(manifest, 'metadata', 'resourceVersion') !== undefined,
      signal: options?.signal,
    });
  }

  async patch(ref: ObjectRef, patch: PatchRequest, options?: CallOptions): Promise<Manifest> {
    const path = await this.#getPath(ref, options);
    const subresource = patch.subresource === undefined ? '' : `/${patch.subresource}`;
    return this.#write(ref.resource, {
      method: 'PATCH',
      path: withQuery(path + subresource, { ...getWriteQuery(patch), force: patch.force }),
      body: JSON.stringify(patch.body),
      contentType: patchTypes[patch.type],
      // An operation of a JSON patch, such as adding to a list, may not be repeatable.
      repeatable: patch.type !== 'json' && !patch.looksFirst,
      signal: options?.signal,
    });
  }

  async delete(
    ref: ObjectRef,
    request?: DeleteRequest,
    options?: CallOptions,
  ): Promise<Manifest | undefined> {
    const path = await this.#getPath(ref, options);
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', ...request });
    const repeatable = request?.preconditions?.uid !== undefined;
    return this.#unlessMissing(
      this.#sendTo(ref.resource, { method: 'DELETE', path, body, repeatable, signal: options?.signal }),
    );
  }

  async getJson(path: string, options?: CallOptions): Promise<Manifest> {
    return this.#sendForJson({ method: 'GET', path: checkPath(path), signal: options?.signal });
  }

  async getText(path: string, options?: CallOptions): Promise<string> {
    return this.#parts.transport.send({
      method: 'GET',
      path: checkPath(path),
      accept: '*/*',
      answerBytesMax: textBytesMax,
      signal: options?.signal,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.sessions.close();
  }

  async #getPath({ resource, namespace, name }: ObjectRef, options?: CallOptions): Promise<string> {
    return getObjectPath(resource, await this.#getNamespace(resource, namespace, options), name);
  }

  async #getNamespace(
    resource: ApiResource,
    namespace: string | undefined,
    options?: CallOptions,
  ): Promise<string> {
    if (namespace || !resource.namespaced) return namespace ?? '';
    return this.getDefaultNamespace(options);
  }

  async #write(resource: ApiResource, request: ApiRequest): Promise<Manifest> {
    const written = await this.#sendTo(resource, request);
    const isStored = !request.path.includes('dryRun=');
    if (isStored && resource.plural === 'customresourcedefinitions') this.#parts.discovery.expectNewKinds();
    return written;
  }

  #sendTo(resource: ApiResource, request: ApiRequest): Promise<Manifest> {
    return this.#sendAbout(resource, request, (call) => this.#sendForJson(call));
  }

  /** Sends a request about a resource, and names the resource in errors. */
  async #sendAbout<T>(
    resource: ApiResource,
    request: ApiRequest,
    send: (request: ApiRequest) => Promise<T>,
  ): Promise<T> {
    try {
      return await send(request);
    } catch (error) {
      if (isResourceNotServed(error)) this.#parts.discovery.forget();
      throw nameResource(error, resource, { account: this.#parts.account, request });
    }
  }

  async #sendForJson(request: ApiRequest): Promise<Manifest> {
    const text = await this.#parts.transport.send({ ...request, persists: this.#persists });
    return parseJsonAnswer(text, this.#parts.account, request.method);
  }

  async #sendForPage(request: ApiRequest): Promise<HeldAnswer> {
    const source = { account: this.#parts.account, method: request.method };
    return parseHeldAnswer(
      await this.#parts.transport.sendHeld({ ...request, persists: this.#persists }),
      source,
    );
  }

  async #unlessMissing(sending: Promise<Manifest>): Promise<Manifest | undefined> {
    try {
      return await sending;
    } catch (error) {
      if (isObjectNotFound(error)) return undefined;
      throw error;
    }
  }
}

function getWriteQuery(options: WriteOptions | undefined): {
  fieldManager?: string;
  fieldValidation?: string;
  dryRun?: string;
} {
  return {
    ...(options?.fieldManager && { fieldManager: options.fieldManager }),
    ...(options?.fieldValidation && { fieldValidation: options.fieldValidation }),
    ...(options?.dryRun && { dryRun: 'All' }),
  };
}
