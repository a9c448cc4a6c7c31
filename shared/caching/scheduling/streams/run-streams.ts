import { createConcurrencyLimit } from '#core/concurrency.ts';
import { waits } from '#core/deadline.ts';
import type { CachingAgent } from '../caching-agent.ts';
import type { CachingAgentKey, StoredCachingAgent } from '../caching-agent-store.ts';
import { CachingAgentWatch } from './caching-agent-watch.ts';
import { pickGuests } from './pack-streams.ts';
import { type StreamedCachingAgent, type StreamMessage, sendStreams } from './stream-queue.ts';
import { claimCachingAgent, type StreamSystem, type StreamWorker } from './stream-worker.ts';

/** Calls that a worker makes to the store of caching agents at a time. */
const storeConcurrency = 8;

/** Milliseconds between two checks of the wanted caching agents: each costs a quarter of a read unit where accounts are stored. */
const configurationIntervalMs = 2_000;

/** Milliseconds between two checks whether a request waits for a fresh account: one read for all caching agents of a worker. */
const demandIntervalMs = 250;

/** Checks of the configuration between two records of the age of watched data. */
const looksPerNote = 30;

/** How a worker is steered. */
export interface RunStreamsOptions {
  /** Loads a function that finds caching agents by the current configuration: the same objects while nothing changes. */
  loadAgents(): Promise<(key: CachingAgentKey) => CachingAgent | undefined>;
  /** Aborted some time before `stop`: send for a successor. Never aborted where there is to be none. */
  readonly handOver: AbortSignal;
  /** Aborted when the worker's time is over. */
  readonly stop: AbortSignal;
}

/**
 * Watches the caching agents of a message until the worker's time is over, or it has none left. A failed one is begun again after a pause;
 * the others go on. Towards the end it sends for a successor, and goes on until that has taken over.
 */
export async function runStreams(
  system: StreamSystem,
  message: StreamMessage,
  options: RunStreamsOptions,
): Promise<void> {
  const worker = new Worker(system, options, await options.loadAgents());
  await worker.run(message.agents);
}

class Worker {
  readonly #options: RunStreamsOptions;
  readonly #shared: StreamWorker & StreamSystem;
  /** Current watches, by caching agent; undefined during a pause. */
  readonly #watched = new Map<StreamedCachingAgent, CachingAgentWatch | undefined>();
  readonly #relieved = new AbortController();
  #findAgent: (key: CachingAgentKey) => CachingAgent | undefined;

  constructor(
    system: StreamSystem,
    options: RunStreamsOptions,
    findAgent: (key: CachingAgentKey) => CachingAgent | undefined,
  ) {
    this.#options = options;
    this.#findAgent = findAgent;
    this.#shared = {
      ...system,
      owner: `${system.randomness.id()}@${system.host}`,
      limit: createConcurrencyLimit(storeConcurrency),
      stop: options.stop,
      relieved: this.#relieved.signal,
      findAgent: (key) => {
        const agent = this.#findAgent(key);
        const isOurs = agent?.watch !== undefined && agent.mode !== 'interval' && !agent.isRemote;
        return isOurs ? agent : undefined;
      },
    };
  }

  async run(agents: readonly StreamedCachingAgent[]): Promise<void> {
    const { log, owner } = this.#shared;
    log.info('watching agents', { agents: agents.length, owner });
    const done = new AbortController();
    const handOver = () => void this.#handOver();
    this.#options.handOver.addEventListener('abort', handOver, { once: true });
    const refreshing = Promise.all([this.#refresh(done.signal), this.#takeDemands(done.signal)]);
    try {
      await Promise.all(agents.map((agent) => this.#watchAgent(agent)));
    } finally {
      done.abort();
      this.#options.handOver.removeEventListener('abort', handOver);
      await refreshing;
    }
    log.info('watching agents has ended', { agents: agents.length, owner });
  }

  async #watchAgent(streamed: StreamedCachingAgent): Promise<void> {
    const { stop, relieved, clock, log } = this.#shared;
    const ends = AbortSignal.any([stop, relieved]);
    try {
      let wanted = streamed;
      while (!ends.aborted) {
        const pauseMs = await this.#watchOnce(wanted, streamed);
        if (pauseMs === undefined) return;
        wanted = { account: streamed.account, name: streamed.name };
        await waits(clock, pauseMs, ends);
      }
    } catch (error) {
      // Its lease lapses, and the schedule sends for it again.
      log.error('an agent cannot be watched', { account: streamed.account, agent: streamed.name, error });
    } finally {
      this.#watched.delete(streamed);
    }
  }

  /** Milliseconds to pause before it is begun again; undefined when it is not ours any more. */
  async #watchOnce(
    wanted: StreamedCachingAgent,
    streamed: StreamedCachingAgent,
  ): Promise<number | undefined> {
    const worker = this.#shared;
    const agent = worker.findAgent(wanted);
    if (agent === undefined) return undefined;
    const claimed = await worker.limit(() => claimCachingAgent(wanted, worker));
    if (claimed === undefined) return undefined;
    const watching = new CachingAgentWatch({ agent, claimed, worker });
    this.#watched.set(streamed, watching);
    const pauseMs = await watching.run();
    this.#watched.set(streamed, undefined);
    return pauseMs;
  }

  async #refresh(done: AbortSignal): Promise<void> {
    const { clock, log } = this.#shared;
    for (let looks = 1; await waits(clock, configurationIntervalMs, done); looks += 1) {
      if (looks % looksPerNote === 0) this.#recordAges();
      try {
        this.#findAgent = await this.#options.loadAgents();
        for (const watching of this.#watched.values()) watching?.checkConfigured();
      } catch (error) {
        log.warn('the agents of now are not known: those of before are watched', { error });
      }
    }
  }

  /** Passes on the demands of requests that wait until an account is fresh. */
  async #takeDemands(done: AbortSignal): Promise<void> {
    const { clock, agents, owner, log } = this.#shared;
    while (await waits(clock, demandIntervalMs, done)) {
      try {
        const demands = await agents.listDemands(owner);
        for (const watching of demands.size === 0 ? [] : this.#watched.values()) {
          const wantedMs = watching && demands.get(watching.account);
          if (wantedMs !== undefined) watching?.demand(wantedMs);
        }
      } catch (error) {
        log.debug('what is demanded of a worker could not be read', { error });
      }
    }
  }

  /** A watched caching agent runs all the time: it is late when its cached data grows old. */
  #recordAges(): void {
    const watched = [...this.#watched.values()].filter((watching) => watching !== undefined);
    const ages = watched.map(({ ageMs }) => ageMs);
    this.#shared.recordLags(ages.filter((ageMs) => ageMs !== undefined));
    const counts = watched.map(({ tooLarge }) => tooLarge).filter((count) => count > 0);
    if (counts.length > 0) this.#shared.recordTooLarge(counts);
  }

  async #findGuests(ownCount: number): Promise<readonly StreamedCachingAgent[]> {
    const { agents, owner, clock, limit, findAgent } = this.#shared;
    const all = await limit(() => agents.list());
    const isWatched = (agent: StoredCachingAgent): boolean =>
      agent.mode?.mode === 'stream' && findAgent(agent) !== undefined;
    return pickGuests(all, { owner, ownCount, nowMs: clock.now(), isWatched });
  }

  /** The successor begins those again that are in a pause. */
  async #handOver(): Promise<void> {
    const { streams, owner, log, stop } = this.#shared;
    if (stop.aborted || this.#watched.size === 0) return;
    try {
      await Promise.all([...this.#watched.values()].map((watching) => watching?.flush()));
      const own = [...this.#watched.keys()].map((agent) => ({ ...agent, handedOverBy: owner }));
      const agents = [...own, ...(await this.#findGuests(own.length))];
      await sendStreams(streams, agents);
      this.#relieved.abort();
      log.info('a successor was sent for', { agents: agents.length, owner });
    } catch (error) {
      // At the end of its time it gives up its leases, and the schedule sends for others.
      log.error('a successor could not be sent for', { owner, error });
    }
  }
}
