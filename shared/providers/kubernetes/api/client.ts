import type { Manifest } from './manifest.ts';

/** A resource of the API, from the built-in table or from discovery: where objects of a kind are served. */
export interface ApiResource {
  /** `v1`, `apps/v1` … */
  readonly apiVersion: string;
  /** Kubernetes' spelling: `Deployment`. */
  readonly kind: string;
  /** Plural in paths: `deployments`. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** True for kinds built into Kubernetes (strategic merge works), false for custom and aggregated ones. */
  readonly builtIn: boolean;
}

/**
 * One object. `namespace` is ignored for cluster-scoped resources; for others it defaults to the namespace of the account's kubeconfig
 * context, and that to `default`, as in kubectl.
 */
export interface ObjectRef {
  readonly resource: ApiResource;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Which objects to list. Omit `namespace` for all namespaces. */
export interface ListRequest {
  readonly resource: ApiResource;
  readonly namespace?: string | undefined;
  /** Kubernetes label selector syntax. */
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** True for objects with only their metadata, at a fraction of the bytes. Default: whole objects. */
  readonly metadataOnly?: boolean | undefined;
}

/** How a patch is read by the API server: content type and field ownership. */
export interface PatchRequest extends WriteOptions {
  readonly type: 'strategic' | 'merge' | 'json' | 'apply';
  readonly body: unknown;
  /** Only for `apply`: take over fields of other managers. */
  readonly force?: boolean | undefined;
  readonly subresource?: 'scale' | 'status' | undefined;
}

/** Options of a write. A replace that names no resourceVersion is sent once. */
export interface WriteOptions {
  readonly fieldManager?: string | undefined;
  /** `Strict` refuses unknown and duplicate fields, as with kubectl. Default: not sent. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /**
   * True if the caller reads the object before it writes again: a request whose answer is lost (`isAnswerLost`) is then not sent again
   * here. Always so for creates and JSON patches. Default: a repeat has the same effect, so it is sent.
   */
  readonly looksFirst?: boolean | undefined;
  /** True to get the resulting object without storing it (Kubernetes' `dryRun=All`). Default: false. */
  readonly dryRun?: boolean | undefined;
}

/** Options of a delete, as in Kubernetes' DeleteOptions. Without a uid it is sent once: another object may take the name. */
export interface DeleteRequest {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  /** `['All']` to check it without deleting anything. Default: it is deleted. */
  readonly dryRun?: readonly ['All'] | undefined;
}

/** A call's options. `signal` aborts it; every call also has its own time-out. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * One account's API server. Calls share one keep-alive pool. Each has an explicit time-out; 429 and 5xx answers, and connections that broke
 * before a request could have had an effect, are retried a bounded number of times with back-off and jitter, honouring `Retry-After`.
 *
 * Every call throws `KubernetesApiError` for an answer of the server that is not a success, and `KubernetesConnectionError` if no answer
 * came, or one beyond the limits of `answer-limits.ts`.
 */
export interface KubernetesClient extends AsyncDisposable {
  /** Whether calls are made: the server is not known to be unreachable, or has just answered again. Never rejects. */
  isReachable(): Promise<boolean>;
  /**
   * Where objects of an apiVersion and kind are served. Built-in kinds cost no call; others are discovered once and remembered for a
   * bounded time.
   *
   * @throws KubernetesApiError (404, "no matches for kind …") if the cluster does not serve the kind.
   */
  getResource(apiVersion: string, kind: string, options?: CallOptions): Promise<ApiResource>;
  /**
   * Finds a resource by Spinnaker's kind (`replicaSet`, `horizontalpodautoscaler`, `crontab.stable.example.com`), case-insensitive, in the
   * group's preferred version.
   *
   * @throws KubernetesApiError (404) if the cluster does not serve it.
   */
  getResourceOfKind(spinnakerKind: string, options?: CallOptions): Promise<ApiResource>;
  /** The namespace of objects that name none: the account's kubeconfig context's, else `default`. */
  getDefaultNamespace(options?: CallOptions): Promise<string>;
  /** The live object, or undefined if it does not exist. */
  get(ref: ObjectRef, options?: CallOptions): Promise<Manifest | undefined>;
  /**
   * All matching objects, read in pages of 500, with apiVersion and kind filled in. At most `gatheredListBytesMax` of them: all are in
   * memory at once.
   */
  list(request: ListRequest, options?: CallOptions): Promise<Manifest[]>;
  /** POST; `manifest.metadata` may have `generateName` instead of a name. */
  create(resource: ApiResource, manifest: Manifest, options?: WriteOptions & CallOptions): Promise<Manifest>;
  /** PUT; the manifest names its namespace and name. */
  replace(resource: ApiResource, manifest: Manifest, options?: WriteOptions & CallOptions): Promise<Manifest>;
  patch(ref: ObjectRef, patch: PatchRequest, options?: CallOptions): Promise<Manifest>;
  /** The deleted object or its Status; undefined if there was none. */
  delete(ref: ObjectRef, request?: DeleteRequest, options?: CallOptions): Promise<Manifest | undefined>;
  /** GET of any path of the API server (discovery, logs, metrics, events), parsed as JSON. */
  getJson(path: string, options?: CallOptions): Promise<Manifest>;
  /** GET of any path as text (logs), at most `textBytesMax`. */
  getText(path: string, options?: CallOptions): Promise<string>;
}

/** The client of an account. */
export interface AccountClient extends KubernetesClient {
  /**
   * The same client, for operations: repeatable calls are repeated for half a minute while the server answers 429 or 5xx. Calls for which
   * users wait are given up within two seconds.
   */
  readonly persistent: KubernetesClient;
}
