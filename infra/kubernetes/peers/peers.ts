import { getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asString, getPath } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { KubernetesApiError } from '#providers/kubernetes/api/errors.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { getCollectionPath } from '#providers/kubernetes/api/resource-path.ts';
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
import { watchObjects } from './watched-objects.ts';

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

const firstPauseMs = 500;
/** What lasted so long did not fail at once, milliseconds. */
const steadyMs = 1_000;
const defaultPauseMsMax = 30_000;

/**
 * Begins to find the replicas of Busdriver in the namespace of this pod: after a look at what it may do it lists Endpoints once, and then
 * watches them. Nothing is polled. What goes wrong is logged, and tried again after a pause; meanwhile the process works with the peers
 * that it knew, or alone.
 */
export function startPeers(options: StartPeersOptions): Peers {
  return new PeerFinder(options);
}

/** A verb is not granted. */
class ForbiddenError extends Error {
  override readonly name = 'ForbiddenError';
}

class PeerFinder implements Peers {
  state: PeerState = 'starting';
  readonly #options: StartPeersOptions;
  #api: PeerApi;
  #namespace = 'unknown';
  #peers: ReadonlyMap<string, Peer> = new Map();
  #failures = 0;
  /** The last trouble that was logged: one that goes on is logged once. */
  #complaint = '';
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: StartPeersOptions) {
    this.#options = options;
    this.#api = options.settings.api === 'endpointslices' ? 'endpointslices' : 'endpoints';
    this.#running = this.#run(this.#stopping.signal);
  }

  list(): readonly Peer[] {
    return [...this.#peers.values()];
  }

  find(id: string): Peer | undefined {
    return this.#peers.get(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error('The process stops'));
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, randomness, pauseMsMax = defaultPauseMsMax } = this.#options;
    const backOff = { firstMs: firstPauseMs, mostMs: pauseMsMax, fixedShare: 0.5 };
    while (!signal.aborted) {
      const beganMs = clock.monotonic();
      try {
        await this.#keepUp(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#failures = clock.monotonic() - beganMs < steadyMs ? this.#failures + 1 : 1;
        this.#complain(error);
        await clock.sleep(getPauseMs(backOff, this.#failures, randomness), signal).catch(getErrorMessage);
      }
    }
  }

  /** Looks at the rights, lists, and watches for as long as it goes well. @throws what ended it */
  async #keepUp(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    this.#namespace = (await cluster.locate()).namespace;
    await this.#checkAccess(signal);
    try {
      await watchObjects(cluster, {
        path: getCollectionPath(peerResources[this.#api], this.#namespace),
        onObjects: (objects) => this.#take(objects),
        signal,
      });
    } catch (error) {
      this.#changeApi(error);
      throw error;
    }
  }

  async #checkAccess(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    const missing = await findMissingVerbs(cluster, { api: this.#api, namespace: this.#namespace }, signal);
    if (missing.length > 0) throw new ForbiddenError(`it may not ${missing.join(' and ')} ${this.#api}`);
  }

  /** A cluster that does not serve Endpoints any more has EndpointSlices. */
  #changeApi(error: unknown): void {
    const isGone = error instanceof KubernetesApiError && error.status === 404;
    if (isGone && this.#options.settings.api === 'auto') this.#api = 'endpointslices';
  }

  /** Several Services may lead to one pod: it is listed once, under the first of them by name. */
  #take(objects: readonly Manifest[]): void {
    const lastUpdated = new Date(this.#options.clock.now()).toISOString();
    const peers = new Map<string, Peer>();
    for (const address of this.#readAddresses(objects)) {
      if (peers.has(address.id)) continue;
      const known = this.#peers.get(address.id);
      const isSame = known?.baseUrl === address.baseUrl && known.ready === address.ready;
      peers.set(address.id, isSame ? known : { ...address, lastUpdated });
    }
    this.#peers = new Map([...peers].sort(([one], [other]) => (one < other ? -1 : 1)));
    if (this.state !== 'watching') this.#tellOfSuccess();
  }

  /** In the order of the names of their objects. */
  #readAddresses(objects: readonly Manifest[]): readonly PeerAddress[] {
    return objects
      .map((object) => ({
        name: asString(getPath(object, 'metadata', 'name')) ?? '',
        addresses: readPeerAddresses(this.#api, object, this.#options.settings),
      }))
      .filter(({ addresses }) => addresses.length > 0)
      .slice(0, objectsMax)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .flatMap(({ addresses }) => addresses);
  }

  #tellOfSuccess(): void {
    this.state = 'watching';
    this.#complaint = '';
    const { kind } = peerResources[this.#api];
    this.#options.log.info(`Watching kubernetes ${kind} on namespace ${this.#namespace}`, {
      clouddrivers: this.#peers.size,
    });
  }

  #complain(error: unknown): void {
    const isForbidden =
      error instanceof ForbiddenError || (error instanceof KubernetesApiError && error.status === 403);
    this.state = isForbidden ? 'forbidden' : 'stale';
    const reason = getErrorMessage(error);
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    const { kind } = peerResources[this.#api];
    this.#options.log.error(
      `>>>>>>> Unable to list kubernetes ${kind} in namespace ${this.#namespace} to discover clouddriver instances. ` +
        'Agent will NOT work if running more than one clouddriver replica!',
      { reason, ...(isForbidden && { role: formatPeerRole(this.#api, this.#namespace) }) },
    );
  }
}
