import type { KubernetesObject } from '@kubernetes/client-node';
import { asJsonObject, asString } from '#core/json.ts';
import type {
  ApiResource,
  CallOptions,
  DeleteRequest,
  KubernetesClient,
  ListRequest,
  ObjectRef,
  PatchRequest,
  WriteOptions,
} from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { findNameProblem } from '../api/names.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { getKindName } from '../kinds/name.ts';
import { readName } from '../manifest/identity.ts';
import {
  type AccountBounds,
  checkNamespace,
  describeClosedKind,
  describeClosedNamespace,
  findDefaultNamespace,
  isBounded,
  OutOfBoundsError,
} from './account-bounds.ts';

/**
 * A client that reaches nothing outside an account's bounds: it stops callers that forgot to check. Calls and lists that name no namespace
 * use the account's default one. For an account without bounds the client itself is returned.
 *
 * Its calls throw OutOfBoundsError, before anything is sent, in addition to the client's own errors. Caching agents, which read a whole
 * cluster to cache part of it, use the unbounded client. Disposing of this one does not dispose of that.
 */
export function boundToAccount(client: KubernetesClient, bounds: AccountBounds): KubernetesClient {
  return isBounded(bounds) ? new BoundedClient(client, bounds) : client;
}

class BoundedClient implements KubernetesClient {
  readonly #client: KubernetesClient;
  readonly #bounds: AccountBounds;

  constructor(client: KubernetesClient, bounds: AccountBounds) {
    this.#client = client;
    this.#bounds = bounds;
  }

  isReachable(): Promise<boolean> {
    return this.#client.isReachable();
  }

  async getResource(apiVersion: string, kind: string, options?: CallOptions): Promise<ApiResource> {
    return this.#checkScope(await this.#client.getResource(apiVersion, kind, options));
  }

  async getResourceOfKind(spinnakerKind: string, options?: CallOptions): Promise<ApiResource> {
    return this.#checkScope(await this.#client.getResourceOfKind(spinnakerKind, options));
  }

  async getDefaultNamespace(options?: CallOptions): Promise<string> {
    return findDefaultNamespace(this.#bounds) ?? (await this.#client.getDefaultNamespace(options));
  }

  async get(ref: ObjectRef, options?: CallOptions): Promise<Manifest | undefined> {
    return this.#client.get(await this.#place(ref, options), options);
  }

  async list(request: ListRequest, options?: CallOptions): Promise<Manifest[]> {
    const placed = await this.#place(request, options);
    const found = await this.#client.list(placed, options);
    return isNamespaceResource(request.resource)
      ? found.filter((object) => checkNamespace(this.#bounds, readName(object)).length === 0)
      : found;
  }

  async create(
    resource: ApiResource,
    manifest: Manifest,
    options?: WriteOptions & CallOptions,
  ): Promise<Manifest> {
    return this.#client.create(resource, await this.#placeManifest(resource, manifest, options), options);
  }

  async replace(
    resource: ApiResource,
    manifest: Manifest,
    options?: WriteOptions & CallOptions,
  ): Promise<Manifest> {
    return this.#client.replace(resource, await this.#placeManifest(resource, manifest, options), options);
  }

  async patch(ref: ObjectRef, patch: PatchRequest, options?: CallOptions): Promise<Manifest> {
    return this.#client.patch(await this.#place(ref, options), patch, options);
  }

  async delete(
    ref: ObjectRef,
    request?: DeleteRequest,
    options?: CallOptions,
  ): Promise<Manifest | undefined> {
    return this.#client.delete(await this.#place(ref, options), request, options);
  }

  async getJson(path: string, options?: CallOptions): Promise<Manifest> {
    this.#checkPath(path);
    return this.#client.getJson(path, options);
  }

  async getText(path: string, options?: CallOptions): Promise<string> {
    this.#checkPath(path);
    return this.#client.getText(path, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** The target of a call, in the namespace that the call really goes to. */
  async #place<T extends { readonly resource: ApiResource; readonly namespace?: string | undefined }>(
    what: T & { readonly name?: string },
    options: CallOptions | undefined,
  ): Promise<T> {
    const { resource, name } = what;
    this.#checkScope(resource);
    if (!resource.namespaced) {
      if (isNamespaceResource(resource)) this.#checkNamespace(name ?? '');
      return what;
    }
    const namespace = what.namespace || (await this.getDefaultNamespace(options));
    this.#checkNamespace(namespace);
    return { ...what, namespace };
  }

  async #placeManifest(
    resource: ApiResource,
    manifest: Manifest,
    options: CallOptions | undefined,
  ): Promise<Manifest> {
    const given = asString(asUnchecked<KubernetesObject>(manifest).metadata?.namespace);
    const name = readName(manifest);
    const { namespace } = await this.#place({ resource, namespace: given, name }, options);
    if (!resource.namespaced || namespace === given) return manifest;
    return { ...manifest, metadata: { ...asJsonObject(manifest.metadata), namespace: namespace ?? '' } };
  }

  #checkScope(resource: ApiResource): ApiResource {
    if (resource.namespaced || this.#bounds.clusterScopedKinds) return resource;
    throw new OutOfBoundsError(describeClosedKind(getKindName(resource.apiVersion, resource.kind)));
  }

  #checkNamespace(namespace: string): void {
    const codes = checkNamespace(this.#bounds, namespace);
    if (codes.length > 0) throw new OutOfBoundsError(describeClosedNamespace(namespace, codes));
  }

  /** A path may lead anywhere: only paths into an allowed namespace are let through. */
  #checkPath(path: string): void {
    const namespace = findPathNamespace(path);
    if (namespace === undefined) {
      throw new OutOfBoundsError(`the account may read no path outside its namespaces, such as ${path}`);
    }
    this.#checkNamespace(namespace);
  }
}

/** The namespace that a path leads into; undefined for a path outside namespaces, and for one that a server may read differently. */
function findPathNamespace(path: string): string | undefined {
  const [, root, ...rest] = path.replace(/\?.*$/, '').split('/').map(decodeSegment);
  if (rest.some((segment) => segment === undefined)) return undefined;
  const [, collection, namespace, resource] = root === 'apis' ? rest.slice(1) : rest;
  const isInside =
    (root === 'api' || root === 'apis') && collection === 'namespaces' && resource !== undefined;
  return isInside ? namespace : undefined;
}

/** Undefined for what cannot be a path segment: see `findNameProblem`. */
function decodeSegment(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment);
    return findNameProblem(text) === undefined ? text : undefined;
  } catch {
    return undefined;
  }
}

function isNamespaceResource({ apiVersion, plural }: ApiResource): boolean {
  return apiVersion === 'v1' && plural === 'namespaces';
}
