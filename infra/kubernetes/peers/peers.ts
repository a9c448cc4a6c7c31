import { getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asString, getPath } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { findRefusal } from '#providers/kubernetes/watch/kind-refusal.ts';
import type { WatchChange } from '#providers/kubernetes/watch/watch.ts';
import { findMissingVerbs, formatPeerRole } from './peer-access.ts';
import {
  type Peer,
  type PeerAddress,
  type PeerApi,
  type PeerFilter,
  peerResources,
  readPeerAddresses,
} from './peer-addresses.ts';
import type { PodCluster } from './pod-cluster.ts';

/** How peers are found. */
export interface PeerSettings extends PeerFilter {
  /** `auto`: Endpoints, or EndpointSlices where the cluster serves no Endpoints any more. */
  readonly api: PeerApi | 'auto';
}

/**
 * How far the list of peers can be relied on. `starting`: it is not known yet; `watching`: it is what the API server says;
 * `forbidden`: this process may not read it; `stale`: the API server cannot be reached, and it is what it said last.
 */
export type PeerState = 'starting' | 'watching' | 'forbidden' | 'stale';

/** What peers are found with. */
export interface StartPeersOptions {
  readonly settings: PeerSettings;
  readonly cluster: PodCluster;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  /** Seconds after which the API server ends a watch, and the next one goes on where it ended. Default 240. */
  readonly watchSeconds?: number;
  /** Longest pause after a failure, milliseconds. Default 30,000. */
  readonly pauseMsMax?: number;
}

/** The replicas of Busdriver in this namespace. Disposing ends the watch. */
export interface Peers extends AsyncDisposable {
  readonly state: PeerState;
  /** All that are known, by id; this process is among them when it stands behind the Service. Costs no call. */
  list(): readonly Peer[];
  /** One by its id. */
  find(id: string): Peer | undefined;
}

/** Objects whose addresses are kept: Services whose names begin alike are few. */
const objectsMax = 200;

const defaultWatchSeconds = 240;
const firstPauseMs = 500;
/** A watch that lasted so long did not fail, milliseconds. */
const steadyMs = 1_000;
const defaultPauseMsMax = 30_000;

/**
 * Begins to find the replicas of Busdriver in the namespace of this pod: after a look at what it may do it lists Endpoints once, and then
 * watches them. Nothing is polled. What goes wrong is logged, and tried again after a pause; meanwhile the process works with the peers
 * that it knew, or alone.
 */
export function startPeers(options: StartPeersOptions): Peers {
  const finder = new PeerFinder(options);
  const stopping = new AbortController();
  const running = finder.run(stopping.signal);
  return {
    get state() {
      return finder.state;
    },
    list: () => finder.list(),
    find: (id) => finder.list().find((peer) => peer.id === id),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error('The process stops'));
      await running;
    },
  };
}

/** A verb is not granted. */
class ForbiddenError extends Error {
  override readonly name = 'ForbiddenError';
}

class PeerFinder {
  state: PeerState = 'starting';
  readonly #options: StartPeersOptions;
  #api: PeerApi;
  /** Addresses by the name of the object that has them. */
  readonly #objects = new Map<string, readonly PeerAddress[]>();
  #peers: ReadonlyMap<string, Peer> = new Map();
  #failures = 0;
  /** The last trouble that was logged: one that goes on is logged once. */
  #complaint = '';

  constructor(options: StartPeersOptions) {
    this.#options = options;
    this.#api = options.settings.api === 'endpointslices' ? 'endpointslices' : 'endpoints';
  }

  list(): readonly Peer[] {
    return [...this.#peers.values()];
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, randomness, pauseMsMax = defaultPauseMsMax } = this.#options;
    const backOff = { firstMs: firstPauseMs, mostMs: pauseMsMax, fixedShare: 0.5 };
    while (!signal.aborted) {
      try {
        await this.#keepUp(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#failures += 1;
        this.#complain(error);
        await clock.sleep(getPauseMs(backOff, this.#failures, randomness), signal).catch(getErrorMessage);
      }
    }
  }

  /** Looks at the rights, lists, and watches for as long as it goes well. @throws what ended it */
  async #keepUp(signal: AbortSignal): Promise<void> {
    const namespace = await this.#options.cluster.client.getDefaultNamespace({ signal });
    await this.#checkAccess(namespace, signal);
    let resourceVersion = await this.#list(namespace, signal);
    this.#tellOfSuccess(namespace);
    while (!signal.aborted) resourceVersion = await this.#watch({ namespace, resourceVersion, signal });
  }

  async #checkAccess(namespace: string, signal: AbortSignal): Promise<void> {
    const missing = await findMissingVerbs(
      this.#options.cluster.client,
      { api: this.#api, namespace },
      signal,
    );
    if (missing.length > 0) throw new ForbiddenError(`it may not ${missing.join(' and ')} ${this.#api}`);
  }

  /** @returns the list's resource version, from which a watch goes on */
  async #list(namespace: string, signal: AbortSignal): Promise<string> {
    const scope = { resource: peerResources[this.#api], namespace };
    const found = new Map<string, readonly PeerAddress[]>();
    let resourceVersion = '';
    try {
      for await (const page of this.#options.cluster.watchClient.listFrom(scope, { signal })) {
        for (const item of page.items) this.#take(found, item);
        resourceVersion = page.resourceVersion;
      }
    } catch (error) {
      this.#changeApi(error);
      throw error;
    }
    this.#objects.clear();
    for (const [name, addresses] of found) this.#objects.set(name, addresses);
    this.#refresh();
    return resourceVersion;
  }

  /** A cluster that does not serve Endpoints any more has EndpointSlices. */
  #changeApi(error: unknown): void {
    const isGone = findRefusal(error) === 'gone';
    if (isGone && this.#options.settings.api === 'auto') this.#api = 'endpointslices';
  }

  /** One watch. @returns where the next one goes on @throws what ended it before its time */
  async #watch({ namespace, resourceVersion, signal }: OneWatch): Promise<string> {
    const { cluster, watchSeconds: timeoutSeconds = defaultWatchSeconds } = this.#options;
    const end = await cluster.watchClient.watch({
      resource: peerResources[this.#api],
      ...{ namespace, resourceVersion, timeoutSeconds, signal },
      onChanges: (changes) => this.#apply(changes),
    });
    const isSteady = end.changes > 0 || end.lastedMs >= steadyMs;
    if (isSteady) this.#failures = 0;
    if (end.ended === 'server-end' && isSteady) return end.resourceVersion;
    if (end.ended === 'expired') return await this.#list(namespace, signal);
    throw end.error ?? new Error('the API server ends watches at once');
  }

  #apply(changes: readonly WatchChange[]): void {
    if (changes.length === 0) return;
    for (const { type, object } of changes) {
      if (type === 'DELETED') this.#objects.delete(getName(object));
      else this.#take(this.#objects, object);
    }
    this.#refresh();
  }

  /** Keeps the addresses of one object, where it has any. */
  #take(objects: Map<string, readonly PeerAddress[]>, object: Manifest): void {
    const name = getName(object);
    const addresses = readPeerAddresses(this.#api, object, this.#options.settings);
    objects.delete(name);
    if (addresses.length > 0 && objects.size < objectsMax) objects.set(name, addresses);
  }

  /** Several Services may lead to one pod: it is listed once, under the first of them by name. */
  #refresh(): void {
    const lastUpdated = new Date(this.#options.clock.now()).toISOString();
    const peers = new Map<string, Peer>();
    for (const name of [...this.#objects.keys()].sort()) {
      for (const address of this.#objects.get(name) ?? []) {
        if (peers.has(address.id)) continue;
        const known = this.#peers.get(address.id);
        const isSame = known?.baseUrl === address.baseUrl && known.ready === address.ready;
        peers.set(address.id, isSame ? known : { ...address, lastUpdated });
      }
    }
    this.#peers = new Map([...peers].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #tellOfSuccess(namespace: string): void {
    this.state = 'watching';
    this.#complaint = '';
    const kind = peerResources[this.#api].kind;
    this.#options.log.info(`Watching kubernetes ${kind} on namespace ${namespace}`, {
      clouddrivers: this.#peers.size,
    });
  }

  #complain(error: unknown): void {
    const isForbidden = error instanceof ForbiddenError || findRefusal(error) === 'forbidden';
    this.state = isForbidden ? 'forbidden' : 'stale';
    const reason = getErrorMessage(error);
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    void this.#logTrouble(reason, isForbidden);
  }

  async #logTrouble(reason: string, isForbidden: boolean): Promise<void> {
    const { cluster, log } = this.#options;
    const namespace = await cluster.client.getDefaultNamespace().catch(() => 'unknown');
    const { kind } = peerResources[this.#api];
    log.error(
      `>>>>>>> Unable to list kubernetes ${kind} in namespace ${namespace} to discover clouddriver instances. ` +
        'Agent will NOT work if running more than one clouddriver replica!',
      { reason, ...(isForbidden && { role: formatPeerRole(this.#api, namespace) }) },
    );
  }
}

interface OneWatch {
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
}

function getName(object: Manifest): string {
  return asString(getPath(object, 'metadata', 'name')) ?? '';
}
