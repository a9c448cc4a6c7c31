import { randomBytes } from 'node:crypto';
import type { V1CustomResourceDefinition, V1Scale } from '@kubernetes/client-node';
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
} from '../../api/client.ts';
import { isObjectNotFound, isResourceNotServed } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, readList } from '../../api/unchecked.ts';
import { formatFullName, getKindName } from '../../kinds/name.ts';
import { readName, readNamespace } from '../../manifest/identity.ts';

/** What would become of an object. */
export interface Change {
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** The live object; undefined where there is none. */
  readonly before: Manifest | undefined;
  /** What it would be; undefined where it would be deleted. */
  after: Manifest | undefined;
  /** Why the API server could not say: `needs namespace shop`, which the same request makes. `after` is then as it was sent. */
  untried?: string;
}

/** A kind that a request defines, and the name of its definition. */
interface Defined {
  readonly resource: ApiResource;
  readonly by: string;
}

/**
 * A client whose writes are the API server's dry runs (`dryRun=All`: defaults, validation and admission, but nothing is stored). What it
 * reads is what earlier writes would have left. It keeps each object once, as it was before the first write and would be after the last.
 *
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run
 */
export class DryRunClient implements KubernetesClient {
  readonly #client: KubernetesClient;
  readonly #changes = new Map<string, Change>();
  /** Live objects as they were read last. */
  readonly #live = new Map<string, Manifest | undefined>();
  /** Kinds that the request itself defines, by apiVersion and kind. */
  readonly #defined = new Map<string, Defined>();
  /** Those of them that the API server does not serve. */
  readonly #unserved = new Map<string, Defined>();

  constructor(client: KubernetesClient) {
    this.#client = client;
  }

  /** What would be changed, in the order of the first writes. */
  get changes(): readonly Change[] {
    return [...this.#changes.values()];
  }

  isReachable(): Promise<boolean> {
    return this.#client.isReachable();
  }

  async getResource(apiVersion: string, kind: string, options?: CallOptions): Promise<ApiResource> {
    try {
      return await this.#client.getResource(apiVersion, kind, options);
    } catch (error) {
      const key = `${apiVersion}/${kind}`;
      const defined = this.#defined.get(key);
      if (defined === undefined || !isResourceNotServed(error)) throw error;
      this.#unserved.set(key, defined);
      return defined.resource;
    }
  }

  getResourceOfKind(spinnakerKind: string, options?: CallOptions): Promise<ApiResource> {
    return this.#client.getResourceOfKind(spinnakerKind, options);
  }

  getDefaultNamespace(options?: CallOptions): Promise<string> {
    return this.#client.getDefaultNamespace(options);
  }

  async get(ref: ObjectRef, options?: CallOptions): Promise<Manifest | undefined> {
    const key = await this.#toKey(ref, options);
    const change = this.#changes.get(key);
    return change === undefined ? this.#readLive(key, ref, options) : change.after;
  }

  list(request: ListRequest, options?: CallOptions): Promise<Manifest[]> {
    return this.#client.list(request, options);
  }

  async create(
    resource: ApiResource,
    manifest: Manifest,
    options: WriteOptions & CallOptions = {},
  ): Promise<Manifest> {
    const ref = { resource, namespace: readNamespace(manifest), name: readName(manifest) };
    const missing = await this.#findMissing(ref, options);
    if (missing !== undefined) return this.#note(ref, manifest, { ...options, untried: `needs ${missing}` });
    // One that would be deleted first is still there, and has the name.
    const replaced = this.#changes.get(await this.#toKey(ref, options));
    const isReplaced = replaced !== undefined && replaced.after === undefined;
    const suffix = randomBytes(3).toString('hex');
    const sent = isReplaced ? rename(manifest, `${ref.name.slice(0, 50)}-${suffix}`) : manifest;
    const created = await this.#client.create(resource, sent, { ...options, dryRun: true });
    const object = isReplaced ? rename(created, ref.name) : created;
    return this.#note({ ...ref, name: readName(object) }, object, options);
  }

  async replace(
    resource: ApiResource,
    manifest: Manifest,
    options: WriteOptions & CallOptions = {},
  ): Promise<Manifest> {
    const ref = { resource, namespace: readNamespace(manifest), name: readName(manifest) };
    return this.#change(ref, manifest, {
      ...options,
      send: () => this.#client.replace(resource, manifest, { ...options, dryRun: true }),
    });
  }

  async patch(ref: ObjectRef, patch: PatchRequest, options: CallOptions = {}): Promise<Manifest> {
    const before = await this.get(ref, options);
    return this.#change(ref, before ?? {}, {
      ...options,
      async send(client) {
        const written = await client.patch(ref, { ...patch, dryRun: true }, options);
        return patch.subresource === 'scale' ? scale(before ?? {}, written) : written;
      },
    });
  }

  async delete(
    ref: ObjectRef,
    request: DeleteRequest = {},
    options: CallOptions = {},
  ): Promise<Manifest | undefined> {
    if ((await this.get(ref, options)) === undefined) return undefined;
    const isNew = this.#changes.get(await this.#toKey(ref, options))?.before === undefined;
    const isMade = isNew && this.#changes.has(await this.#toKey(ref, options));
    if (!isMade) await this.#client.delete(ref, { ...request, dryRun: ['All'] }, options);
    await this.#note(ref, undefined, options);
    return { apiVersion: 'v1', kind: 'Status' };
  }

  getJson(path: string, options?: CallOptions): Promise<Manifest> {
    return this.#client.getJson(path, options);
  }

  getText(path: string, options?: CallOptions): Promise<string> {
    return this.#client.getText(path, options);
  }

  /** Disposes of nothing: the client is another's. */
  async [Symbol.asyncDispose](): Promise<void> {}

  /** Sends a write of an object that is there, if only since an earlier write of this run: then the API server knows nothing of it. */
  async #change(
    ref: ObjectRef,
    unsent: Manifest,
    { send, ...options }: CallOptions & { send(client: KubernetesClient): Promise<Manifest> },
  ): Promise<Manifest> {
    const earlier = this.#changes.get(await this.#toKey(ref, options));
    try {
      return await this.#note(ref, await send(this.#client), options);
    } catch (error) {
      if (earlier?.after === undefined || !isObjectNotFound(error)) throw error;
      const untried = earlier.untried ?? `needs ${formatFullName(earlier.kind, earlier.name)}`;
      return this.#note(ref, unsent, { ...options, untried });
    }
  }

  async #note(
    ref: ObjectRef,
    after: Manifest | undefined,
    { untried, ...options }: CallOptions & { readonly untried?: string },
  ): Promise<Manifest> {
    const key = await this.#toKey(ref, options);
    const known = this.#changes.get(key);
    const { apiVersion, kind, namespaced } = ref.resource;
    const change: Change = known ?? {
      kind: getKindName(apiVersion, kind),
      namespace: namespaced ? await this.#getNamespace(ref, options) : '',
      name: ref.name,
      before: await this.#findBefore(key, ref, options),
      after,
    };
    change.after = after;
    if (untried !== undefined) change.untried = untried;
    this.#changes.set(key, change);
    if (after !== undefined) this.#noteDefinition(after);
    return after ?? {};
  }

  async #findBefore(key: string, ref: ObjectRef, options: CallOptions): Promise<Manifest | undefined> {
    return this.#live.has(key) ? this.#live.get(key) : this.#readLive(key, ref, options);
  }

  async #readLive(key: string, ref: ObjectRef, options?: CallOptions): Promise<Manifest | undefined> {
    if (this.#findDefinition(ref.resource) !== undefined || ref.name === '') return undefined;
    const live = await this.#client.get(ref, options);
    this.#live.set(key, live);
    return live;
  }

  /** What the same request makes, and the API server would need to know of an object. */
  async #findMissing(ref: ObjectRef, options: CallOptions): Promise<string | undefined> {
    const definition = this.#findDefinition(ref.resource);
    if (definition !== undefined) return `customResourceDefinition ${definition.by}`;
    if (!ref.resource.namespaced) return undefined;
    const name = await this.#getNamespace(ref, options);
    const isNew = this.changes.some(
      (each) => each.kind === 'namespace' && each.name === name && each.before === undefined && each.after,
    );
    return isNew ? `namespace ${name}` : undefined;
  }

  #findDefinition({ apiVersion, kind, builtIn }: ApiResource): Defined | undefined {
    return builtIn ? undefined : this.#unserved.get(`${apiVersion}/${kind}`);
  }

  #noteDefinition(object: Manifest): void {
    if (object.kind !== 'CustomResourceDefinition') return;
    const { spec, metadata } = asUnchecked<V1CustomResourceDefinition>(object);
    for (const version of readList(spec?.versions)) {
      const apiVersion = `${asString(spec?.group)}/${asString(version?.name)}`;
      const kind = asString(spec?.names?.kind) ?? '';
      const plural = asString(spec?.names?.plural) ?? '';
      const resource = { apiVersion, kind, plural, namespaced: spec?.scope !== 'Cluster', builtIn: false };
      this.#defined.set(`${apiVersion}/${kind}`, { resource, by: asString(metadata?.name) ?? '' });
    }
  }

  async #getNamespace({ namespace }: ObjectRef, options?: CallOptions): Promise<string> {
    return namespace || (await this.getDefaultNamespace(options));
  }

  async #toKey(ref: ObjectRef, options?: CallOptions): Promise<string> {
    const { resource, name } = ref;
    const namespace = resource.namespaced ? await this.#getNamespace(ref, options) : '';
    const group = resource.apiVersion.includes('/') ? resource.apiVersion.split('/')[0] : '';
    return JSON.stringify([group, resource.kind, namespace, name]);
  }
}

function rename(object: Manifest, name: string): Manifest {
  return { ...object, metadata: { ...asJsonObject(object.metadata), name } };
}

/** The object with the replicas of its subresource `scale`. */
function scale(object: Manifest, written: Manifest): Manifest {
  const replicas = asUnchecked<V1Scale>(written).spec?.replicas ?? 0;
  return { ...object, spec: { ...asJsonObject(object['spec']), replicas } };
}
