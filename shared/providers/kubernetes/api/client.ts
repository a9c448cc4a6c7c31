import type { Manifest } from './manifest.ts';

/** A resource of the API: where objects of a kind are served. From the built-in table or from discovery. */
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
 * One object. `namespace` is ignored for cluster-scoped resources; for others it defaults to the namespace of the
 * account's kubeconfig context, and that to `default`, as for kubectl.
 */
export interface ObjectRef {
  readonly resource: ApiResource;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Which objects to list. Leave `namespace` out for all namespaces. */
export interface ListRequest {
  readonly resource: ApiResource;
  readonly namespace?: string | undefined;
  /** Kubernetes label selector syntax. */
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** True for objects with their metadata alone, at a fraction of the bytes. Default: whole objects. */
  readonly metadataOnly?: boolean | undefined;
}

/** How a patch is read by the API server: content type and field ownership. */
export interface PatchRequest {
  readonly type: 'strategic' | 'merge' | 'json' | 'apply';
  readonly body: unknown;
  readonly fieldManager?: string | undefined;
  /** Only for `apply`: take over fields of other managers. */
  readonly force?: boolean | undefined;
  /** `Strict` refuses unknown and duplicate fields, as kubectl asks for. Default: not sent. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
  readonly subresource?: 'scale' | 'status' | undefined;
  readonly looksFirst?: WriteOptions['looksFirst'];
  readonly dryRun?: WriteOptions['dryRun'];
}

/** Options of a create or replace. A replace that names no resourceVersion is sent once. */
export interface WriteOptions {
  readonly fieldManager?: string | undefined;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /**
   * True when the caller looks at the object before it writes again: once the answer is lost (`isAnswerLost`) the request is
   * not sent again here. Always so for creates and JSON patches. Default: a repeat leaves what the first left, so it is sent.
   */
  readonly looksFirst?: boolean | undefined;
  /** True to be answered what the object would be, with nothing stored (Kubernetes' `dryRun=All`). Default: false. */
  readonly dryRun?: boolean | undefined;
}

/** Options of a delete, as in Kubernetes' DeleteOptions. Without a uid it is sent once: another object may come to have the name. */
export interface DeleteRequest {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/** A call's options. `signal` aborts it; every call has its own time-out besides. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * One account's API server. Calls share one keep-alive pool. Each has an explicit time-out; 429 and 5xx answers,
 * and connections that broke before a request could have had an effect, are retried a bounded number of times with
 * back-off and jitter, honouring `Retry-After`.
 *
 * Every call throws `KubernetesApiError` for an answer of the server that is not a success, and
 * `KubernetesConnectionError` when no answer came, or one beyond the limits of `answer-limits.ts`.
 */
export interface KubernetesClient extends AsyncDisposable {
  /** Whether calls are made: the server is not known to be away, or has just said that it is back. Never rejects. */
  isReachable(): Promise<boolean>;
  /**
   * Where objects of an apiVersion and kind are served. Built-in kinds cost no call; others are discovered once and
   * remembered for a bounded time.
   *
   * @throws KubernetesApiError (404, "no matches for kind …") when the cluster does not serve the kind.
   */
  getResource(apiVersion: string, kind: string, options?: CallOptions): Promise<ApiResource>;
  /**
   * Finds a resource by Spinnaker's kind (`replicaSet`, `horizontalpodautoscaler`, `crontab.stable.example.com`),
   * case-insensitive, in the group's preferred version.
   *
   * @throws KubernetesApiError (404) when the cluster does not serve it.
   */
  getResourceOfKind(spinnakerKind: string, options?: CallOptions): Promise<ApiResource>;
  /** The namespace of objects that name none: that of the account's kubeconfig context, else `default`. */
  getDefaultNamespace(options?: CallOptions): Promise<string>;
  /** The live object, or undefined when it does not exist. */
  get(ref: ObjectRef, options?: CallOptions): Promise<Manifest | undefined>;
  /**
   * All matching objects, read in pages of 500, with apiVersion and kind filled in. No more than `gatheredListBytesMax` of them:
   * they are in memory all at once.
   */
  list(request: ListRequest, options?: CallOptions): Promise<Manifest[]>;
  /** POST; `manifest.metadata` may have `generateName` instead of a name. */
  create(resource: ApiResource, manifest: Manifest, options?: WriteOptions & CallOptions): Promise<Manifest>;
  /** PUT; the manifest names its namespace and name. */
  replace(resource: ApiResource, manifest: Manifest, options?: WriteOptions & CallOptions): Promise<Manifest>;
  patch(ref: ObjectRef, patch: PatchRequest, options?: CallOptions): Promise<Manifest>;
  /** The deleted object or its Status; undefined when there was none. */
  delete(ref: ObjectRef, request?: DeleteRequest, options?: CallOptions): Promise<Manifest | undefined>;
  /** GET of any path of the API server (discovery, logs, metrics, events), parsed as JSON. */
  getJson(path: string, options?: CallOptions): Promise<Manifest>;
  /** GET of any path as text (logs), of `textBytesMax` at most. */
  getText(path: string, options?: CallOptions): Promise<string>;
}

/** The client of an account. */
export interface AccountClient extends KubernetesClient {
  /**
   * The same client, for operations: what may be repeated is repeated for half a minute while the server answers 429 or 5xx. Calls by which
   * people wait for an answer are given up within two seconds.
   */
  readonly persistent: KubernetesClient;
}
