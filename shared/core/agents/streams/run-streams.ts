import { createConcurrencyLimit } from '../../concurrency.ts';
import type { AgentKey } from '../agent-store.ts';
import type { CachingAgent } from '../caching-agent.ts';
import { Following, sleeps } from './following.ts';
import { pickGuests } from './pack-streams.ts';
import { type StreamedAgent, type StreamMessage, sendStreams } from './stream-queue.ts';
import { claimAgent, type StreamSystem, type StreamWorker } from './stream-worker.ts';

/** Calls of the store of agents that a worker makes at once. */
const storeConcurrency = 8;

/** How often it is looked which agents there should be, milliseconds. */
const configurationIntervalMs = 15_000;

/** Looks at the configuration between two notes of how old what is followed is. */
const looksPerNote = 4;

/** How a worker is steered. */
export interface RunStreamsOptions {
  /** What finds agents as they are configured now: the same objects for as long as nothing changes. */
  loadAgents(): Promise<(key: AgentKey) => CachingAgent | undefined>;
  /** Aborted some time before `stop`: a successor is to be sent for. Never aborted where there is to be none. */
  readonly handOver: AbortSignal;
  /** Aborted when the worker's time is over. */
  readonly stop: AbortSignal;
}

/**
 * Follows the agents that a message names until the worker's time is over, or none is left to it. An agent that fails is begun
 * anew after a pause; the others go on. Towards the end it sends for a successor, and goes on until he has taken over.
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
  readonly #shared: StreamWorker;
  /** What is followed now, by agent; undefined while it pauses. */
  readonly #followed = new Map<StreamedAgent, Following | undefined>();
  readonly #relieved = new AbortController();
  #findAgent: (key: AgentKey) => CachingAgent | undefined;

  constructor(
    system: StreamSystem,
    options: RunStreamsOptions,
    findAgent: (key: AgentKey) => CachingAgent | undefined,
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
        return agent?.mode === 'stream' && agent.follow !== undefined ? agent : undefined;
      },
    };
  }

  async run(agents: readonly StreamedAgent[]): Promise<void> {
    const { log, owner } = this.#shared;
    log.info('following agents', { agents: agents.length, owner });
    const done = new AbortController();
    const handOver = () => void this.#handOver();
    this.#options.handOver.addEventListener('abort', handOver, { once: true });
    const refreshing = this.#refresh(done.signal);
    try {
      await Promise.all(agents.map((agent) => this.#followAgent(agent)));
    } finally {
      done.abort();
      this.#options.handOver.removeEventListener('abort', handOver);
      await refreshing;
    }
    log.info('following agents has ended', { agents: agents.length, owner });
  }

  async #followAgent(streamed: StreamedAgent): Promise<void> {
    const { stop, relieved, clock, log } = this.#shared;
    const ends = AbortSignal.any([stop, relieved]);
    try {
      let wanted = streamed;
      while (!ends.aborted) {
        const pauseMs = await this.#followOnce(wanted, streamed);
        if (pauseMs === undefined) return;
        wanted = { account: streamed.account, name: streamed.name };
        await sleeps(clock.sleep(pauseMs, ends));
      }
    } catch (error) {
      // Its lease lapses, and the schedule sends for it again.
      log.error('an agent cannot be followed', { account: streamed.account, agent: streamed.name, error });
    } finally {
      this.#followed.delete(streamed);
    }
  }

  /** For how long to pause before it is begun anew; undefined when it is not ours any more. */
  async #followOnce(wanted: StreamedAgent, streamed: StreamedAgent): Promise<number | undefined> {
    const worker = this.#shared;
    const agent = worker.findAgent(wanted);
    if (agent === undefined) return undefined;
    const claimed = await worker.limit(() => claimAgent(wanted, worker));
    if (claimed === undefined) return undefined;
    const following = new Following({ agent, claimed, worker });
    this.#followed.set(streamed, following);
    const end = await following.run();
    this.#followed.set(streamed, undefined);
    return end.isOver ? undefined : end.pauseMs;
  }

  async #refresh(done: AbortSignal): Promise<void> {
    const { clock, log } = this.#shared;
    for (let looks = 1; await sleeps(clock.sleep(configurationIntervalMs, done)); looks += 1) {
      if (looks % looksPerNote === 0) this.#recordAges();
      try {
        this.#findAgent = await this.#options.loadAgents();
      } catch (error) {
        log.warn('the agents of now are not known: those of before are followed', { error });
      }
    }
  }

  /** An agent that is followed runs all the time: it is late when what it has cached grows old. */
  #recordAges(): void {
    const followed = [...this.#followed.values()].filter((following) => following !== undefined);
    const ages = followed.map(({ ageMs }) => ageMs);
    this.#shared.recordLags(ages.filter((ageMs) => ageMs !== undefined));
    const counts = followed.map(({ tooLarge }) => tooLarge).filter((count) => count > 0);
    if (counts.length > 0) this.#shared.recordTooLarge(counts);
  }

  async #findGuests(ownCount: number): Promise<readonly StreamedAgent[]> {
    const { agents, owner, clock, limit, findAgent } = this.#shared;
    const all = await limit(() => agents.list());
    const isFollowed = (agent: AgentKey): boolean => findAgent(agent) !== undefined;
    return pickGuests(all, { owner, ownCount, nowMs: clock.now(), isFollowed });
  }

  /** Whoever is in a pause is begun anew by the successor. */
  async #handOver(): Promise<void> {
    const { streams, owner, log, stop } = this.#shared;
    if (stop.aborted || this.#followed.size === 0) return;
    try {
      await Promise.all([...this.#followed.values()].map((following) => following?.flush()));
      const own = [...this.#followed.keys()].map((agent) => ({ ...agent, handedOverBy: owner }));
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
