import type {
  CatchUpRequest,
  FoundPage,
  OpenSource,
  ReadOutcome,
  Scope,
  ScopeSource,
  WatchRequest,
} from '#caching/engine/scope-source.ts';
import { hashText } from '#caching/store/hash-text.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { asString, getPath } from '#core/json.ts';
import type { CachingPolicy, KubernetesAccount } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import type { KubernetesClient } from '../api/client.ts';
import { KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import { hashCacheRules } from '../cache-writer/cache-rules.ts';
import { getResourceVersion, type ListPage } from '../client/list-pages.ts';
import { isSameKind } from '../kinds/name.ts';
import { readName } from '../manifest/identity.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { catchUpKind } from '../watch/catch-up-kind.ts';
import type { KindScope, WatchChange } from '../watch/watch.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import { watchKind } from '../watch/watch-kind.ts';
import { isCustomKind, type KindFamily } from './kind-families.ts';
import { isComparable, ObjectConversion } from './object-conversion.ts';
import { selectNamespaces } from './select-namespaces.ts';
import { selectWatchedKinds, type WatchedKind } from './watched-kinds.ts';

/** An account's cluster, as a caching agent reads it. */
export interface ClusterSourceOptions {
  readonly account: KubernetesAccount;
  readonly settings: CacheSettings;
  readonly family: KindFamily;
  /** Whether the account has a caching agent for custom kinds; otherwise the other one evicts their cached objects. */
  readonly hasCustomAgent: boolean;
  /** Reads single objects and the kinds that the cluster serves. */
  readonly client: KubernetesClient;
  /** Lists and watches. */
  readonly watches: WatchClient;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /**
   * Front50's applications, in lower case; given if only their objects are cached.
   *
   * @throws Error when they are unknown.
   */
  readonly loadApplications?: (() => Promise<ReadonlySet<string>>) | undefined;
}

/** An account that names no more namespaces than this has each read by itself: that is less than the whole cluster. */
const mostNamespacesByThemselves = 3;

/** Milliseconds between two checks of a watch for other kinds: of custom ones, and of Kubernetes' own. */
const kindsIntervalMs: Readonly<Record<KindFamily, number>> = { custom: 30_000, 'built-in': 5 * 60_000 };

/** The source of a caching agent of an account. */
export function createClusterSource(options: ClusterSourceOptions): ScopeSource<ObjectFacts> {
  const { account, settings, family, hasCustomAgent, client } = options;
  const { namespaces } = account;
  return {
    rules: hashCacheRules(account, settings),
    readsByLocation: namespaces.length > 0 && namespaces.length <= mostNamespacesByThemselves,
    findsLocations: namespaces.length === 0,
    unknownLocations: { namespaces: 'may not be listed, and the account names none' },
    kindsIntervalMs: kindsIntervalMs[family],
    isOwn: (kind) => isCustomKind(kind) === (family === 'custom') || !hasCustomAgent,
    findLimit: (kind) => findKindLimit(account.caching.policies, kind),
    readIdentity: (signal) => readClusterUid(client, signal),
    selectKinds: (signal) => selectWatchedKinds({ ...options, signal }, family),
    async open({ epoch, signal }) {
      const [kinds, applications] = await Promise.all([
        selectWatchedKinds({ ...options, signal }, family),
        options.loadApplications?.(),
      ]);
      return new OpenCluster(options, { epoch, signal, kinds, applications });
    },
  };
}

/** How many objects of a kind are cached; undefined for no limit. Of two policies for a kind the first counts. */
export function findKindLimit(policies: readonly CachingPolicy[], kind: string): number | undefined {
  return policies.find(({ kubernetesKind }) => isSameKind(kubernetesKind, kind))?.maxEntriesPerAgent;
}

/**
 * Identifies the cluster: the UID of its namespace `kube-system`. Empty if the account may not read it, or if there is none: then only
 * resource versions that go backwards show that the cluster is another one.
 *
 * @throws KubernetesApiError for other refusals, KubernetesConnectionError, or the signal's reason
 */
async function readClusterUid(client: KubernetesClient, signal: AbortSignal): Promise<string> {
  const resource = await client.getResource('v1', 'Namespace', { signal });
  try {
    const namespace = await client.get({ resource, name: 'kube-system' }, { signal });
    return asString(getPath(namespace, 'metadata', 'uid')) ?? '';
  } catch (error) {
    if (error instanceof KubernetesApiError && error.status === 403) return '';
    throw error;
  }
}

/** What a run or watch found at its start. */
interface ClusterStart {
  readonly epoch: number;
  readonly signal: AbortSignal;
  readonly kinds: readonly WatchedKind[];
  readonly applications: ReadonlySet<string> | undefined;
}

class OpenCluster implements OpenSource<ObjectFacts> {
  readonly kinds: readonly WatchedKind[];
  /** Shows whether Front50 still has the same applications. */
  readonly choice: string;
  readonly #options: ClusterSourceOptions;
  readonly #signal: AbortSignal;
  readonly #conversion: ObjectConversion;

  constructor(options: ClusterSourceOptions, { epoch, signal, kinds, applications }: ClusterStart) {
    const { account } = options;
    this.#options = options;
    this.#signal = signal;
    this.kinds = kinds;
    this.choice = applications === undefined ? '' : hashText([...applications].sort().join(' ')).toString(36);
    this.#conversion = new ObjectConversion({
      ...{ account, epoch, kinds },
      isKnownApplication: applications && ((name) => applications.has(name.toLowerCase())),
    });
  }

  async listLocations(): Promise<readonly string[] | undefined> {
    const { account, client } = this.#options;
    const signal = this.#signal;
    if (account.namespaces.length > 0) return account.namespaces;
    try {
      const resource = await client.getResource('v1', 'Namespace', { signal });
      const namespaces = await client.list({ resource, metadataOnly: true }, { signal });
      return selectNamespaces(namespaces.map(readName), account);
    } catch (error) {
      if (!(error instanceof KubernetesApiError && error.status === 403)) throw error;
      return undefined;
    }
  }

  async list(scope: Scope, onPage: (page: FoundPage<ObjectFacts>) => Promise<void>): Promise<ReadOutcome> {
    const { watches: client, clock } = this.#options;
    const request = { ...this.#toKindScope(scope), resourceVersion: undefined, signal: this.#signal };
    return catchUpKind(
      { ...request, onPage: (page) => onPage(this.#toPage(scope, page)), onChanges: () => undefined },
      { client, clock },
    );
  }

  catchUp(request: CatchUpRequest<ObjectFacts>): Promise<ReadOutcome> {
    const { watches: client, clock } = this.#options;
    const { position, awaitsBookmark } = request;
    return catchUpKind(
      {
        ...this.#toKindScope(request),
        ...{ resourceVersion: position, awaitsBookmark, signal: this.#signal },
        onPage: () => undefined,
        onChanges: (changes) =>
          request.onChanges(this.#toFound(changes, getResourceVersion(changes.at(-1)?.object))),
      },
      { client, clock },
    );
  }

  watch(request: WatchRequest<ObjectFacts>): Promise<unknown> {
    const { watches: client, clock, randomness } = this.#options;
    const { position, signal, onProgress, onProvable, onTrouble } = request;
    return watchKind(
      {
        ...this.#toKindScope(request),
        ...{ resourceVersion: position, signal, onProvable, onTrouble },
        onProgress: async ({ changes, resourceVersion, asOfMs }) => {
          // A server with such versions is only listed: it cannot be watched, either.
          if (isComparable(resourceVersion))
            await onProgress({ ...this.#toFound(changes, resourceVersion), asOfMs });
        },
      },
      { client, clock, randomness },
    );
  }

  async canList(scope: Scope): Promise<boolean> {
    try {
      await this.#options.watches.readResourceVersion(this.#toKindScope(scope), { signal: this.#signal });
      return true;
    } catch (error) {
      if (error instanceof KubernetesApiError) return false;
      throw error;
    }
  }

  /**
   * Cached objects of a built-in kind are evicted unless the server's discovery lists the kind; a custom kind's go with its definition.
   */
  async isServed(kind: string): Promise<boolean> {
    const { resource } = this.#getKind(kind);
    if (isCustomKind(kind) || !resource.apiVersion.includes('/')) return true;
    const served = await this.#options.watches.listResources({ signal: this.#signal });
    return served.some(
      (each) => each.resource.apiVersion === resource.apiVersion && each.resource.kind === resource.kind,
    );
  }

  #getKind(kind: string): WatchedKind {
    const found = this.kinds.find((each) => each.kind === kind);
    if (found === undefined) throw new Error(`${kind} is not read`);
    return found;
  }

  #toKindScope({ kind, location }: Scope): KindScope {
    const { resource, isMetadataOnly: metadataOnly } = this.#getKind(kind);
    return { resource, namespace: location || undefined, metadataOnly };
  }

  #toPage({ kind }: Scope, { items, resourceVersion, release }: ListPage): FoundPage<ObjectFacts> {
    if (!isComparable(resourceVersion)) {
      const problem = 'its API server gives resource versions that are no numbers';
      throw new KubernetesConnectionError(`${kind}: ${problem}`);
    }
    const seenAt = this.#conversion.toRevision(resourceVersion);
    return {
      count: items.length,
      read: (most) => items.slice(0, most).flatMap((object) => this.#conversion.toKept(object, seenAt) ?? []),
      release,
    };
  }

  #toFound(changes: readonly WatchChange[], position: string) {
    const converted = this.#conversion.toChanges(changes, position);
    return { changes: converted, added: countAdded(changes), position };
  }
}

/** Objects created by changes, less those deleted. */
function countAdded(changes: readonly WatchChange[]): number {
  return changes.reduce((sum, { type }) => sum + addedByType[type], 0);
}

const addedByType = { ADDED: 1, MODIFIED: 0, DELETED: -1 } as const;
