import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CachingAgent, CachingResult, CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { CachingAgentMessage } from '#caching/scheduling/caching-agent-queue.ts';
import {
  type CachingAgentKey,
  type StoredCachingAgent,
  toCachingAgentId,
} from '#caching/scheduling/caching-agent-store.ts';
import { type CachingAgentSystem, runTurns } from '#caching/scheduling/run-turns.ts';
import {
  type AccountCount,
  createScheduleMemory,
  type ScheduleReport,
  type ScheduleSystem,
  scheduleTurns,
} from '#caching/scheduling/schedule-turns.ts';
import type { Clock } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import type { BusEvent } from '#platform/ports/event-bus.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import { testRandomness } from '../run/test-clock.ts';
import { createVirtualClock, type VirtualClock } from '../run/virtual-clock.ts';

/** What an agent of tests does when it runs. */
export type Conduct = (run: CachingRun, agent: CachingAgent) => Promise<Partial<CachingResult>>;

/** A message on the way, or hidden since a worker has it. */
export interface PendingMessage {
  readonly message: CachingAgentMessage;
  readonly comesMs: number;
}

/** Agents on the real store with a virtual clock, and a queue whose messages can be looked at, lost and doubled. */
export interface TestAgentSystem extends CachingAgentSystem, ScheduleSystem {
  readonly clock: VirtualClock;
  readonly agents: DynamoCachingAgentStore;
  /** Messages that no worker has yet. */
  readonly pending: PendingMessage[];
  /** Every message that was sent. */
  readonly sent: PendingMessage[];
  readonly events: BusEvent[];
  readonly lines: { readonly level: string; readonly message: string; readonly fields: object }[];
  readonly lags: number[];
  /** What each turn of the scheduler told of stale accounts. */
  readonly counts: AccountCount[];
  /** The agents there should be. */
  wanted: readonly CachingAgent[];
  /** What happens to a message that is sent: it is put on the queue. */
  onSend(message: PendingMessage): void;
  /** Runs a turn of the scheduler. @param ended aborted when nobody waits for it any more */
  schedule(ended?: AbortSignal): Promise<ScheduleReport>;
  /** Runs a message as a worker does; one that dies makes no call any more, and gets no answer. */
  work(
    message: CachingAgentMessage,
    worker?: { readonly stop?: AbortSignal; readonly death?: AbortSignal },
  ): Promise<void>;
  /** The agent as it is stored. */
  find(key: CachingAgentKey): Promise<StoredCachingAgent>;
  /** Adds agents, lets each have its first run, so that they share messages, and forgets what was sent and told. */
  settle(...wanted: CachingAgent[]): Promise<void>;
  /** Waits until agents are due. @returns the message for that. */
  waitForTurn(...agents: readonly CachingAgentKey[]): Promise<CachingAgentMessage>;
  /** Removes every agent from the table, which other tests use too. */
  clear(): Promise<void>;
  /** Lets time pass in which workers take messages as they come, and the scheduler runs each minute. */
  live(ms: number, until?: () => boolean): Promise<void>;
}

/** Opens a system with a table of its own or a shared one. */
export function openAgentSystem(engine: StoreEngine): TestAgentSystem {
  const clock = createVirtualClock();
  const documents = engine.openDocuments();
  const parts = { documents, tableName: engine.tableName, clock, randomness: testRandomness };
  const memory = createScheduleMemory();
  const nobody = new AbortController().signal;
  const system: TestAgentSystem = {
    ...{ clock, randomness: testRandomness, host: 'test-host', wanted: [] },
    ...{ pending: [], sent: [], events: [], lines: [], lags: [], counts: [] },
    log: createLog((line) => system.lines.push(line)),
    agents: trackAgents(new DynamoCachingAgentStore(parts), clock),
    cache: clock.track(createCacheStore({ ...parts, codecs: {} })),
    bus: { publish: async (events) => void system.events.push(...events) },
    recordLags: (lags) => void system.lags.push(...lags),
    recordTooLarge: () => undefined,
    recordStaleAccounts: (count) => void system.counts.push(count),
    onSend: (message) => void system.pending.push(message),
    agentQueue: {
      async send(messages, nowMs) {
        for (const message of messages) {
          const delayMs = Math.ceil((message.dueMs - nowMs) / 1000) * 1000;
          const pending = { message, comesMs: nowMs + Math.max(0, delayMs) };
          system.sent.push(pending);
          system.onSend(pending);
        }
      },
    },
    schedule: () => scheduleTurns(system, { wanted: system.wanted, memory }),
    work(message, { stop = nobody, death = nobody } = {}) {
      const known = new Map(system.wanted.map((agent) => [toCachingAgentId(agent), agent]));
      const mortal = {
        ...system,
        agents: makeMortal(system.agents, death),
        cache: makeMortal(system.cache, death),
        agentQueue: makeMortal(system.agentQueue, death),
        bus: makeMortal(system.bus, death),
      };
      return runTurns(mortal, message, { findAgent: (key) => known.get(toCachingAgentId(key)), stop });
    },
    async find({ account, name }) {
      const found = (await system.agents.list()).find((one) => one.account === account && one.name === name);
      if (found === undefined) throw new Error(`no agent ${name} of ${account}`);
      return found;
    },
    async settle(...wanted) {
      system.wanted = wanted;
      await live(system, 30_000);
      const { pending, sent, events, lines, lags } = system;
      for (const list of [pending, sent, events, lines, lags]) list.length = 0;
    },
    async waitForTurn(...agents) {
      const found = await Promise.all(agents.map(system.find));
      const dueMs = Math.max(...found.map(({ nextRunMs }) => nextRunMs));
      await clock.pass(Math.max(0, dueMs - clock.now()));
      return { agents: found.map(({ account, name }) => ({ account, name })), dueMs };
    },
    async clear() {
      await system.agents.sync([]);
      for (const agent of await system.agents.list()) await system.agents.forget(agent);
    },
    live: (ms, until) => live(system, ms, until),
  };
  return system;
}

/** An agent with a conduct. */
export function newAgent(key: Partial<CachingAgent>, conduct: Conduct = async () => ({})): CachingAgent {
  const agent: CachingAgent = {
    account: `account ${testRandomness.id()}`,
    ...{ name: 'core', provider: 'kubernetes', intervalMs: 30_000, mode: 'interval', timeoutMs: 300_000 },
    ...key,
    async run(run) {
      const result = await conduct(run, agent);
      return { outcome: 'done', state: '', items: 1, changes: 0, ...result };
    },
  };
  return agent;
}

/** Never ends, whatever its signal says. */
export function hang(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** Sleeps, unless the run is aborted. */
export function takes(clock: Clock, ms: number, { signal }: CachingRun): Promise<void> {
  return clock.sleep(ms, signal);
}

async function live(system: TestAgentSystem, ms: number, until?: () => boolean): Promise<void> {
  const ended = new AbortController();
  const { clock, pending } = system;
  const deliver = async (): Promise<void> => {
    for (;;) {
      const { true: due = [] } = Object.groupBy(pending, ({ comesMs }) => String(comesMs <= clock.now()));
      for (const one of due ?? []) {
        pending.splice(pending.indexOf(one), 1);
        void system.work(one.message);
      }
      const nextMs = Math.min(clock.now() + 1_000, ...pending.map(({ comesMs }) => comesMs));
      await clock.sleep(nextMs - clock.now(), ended.signal);
    }
  };
  const schedule = async (): Promise<void> => {
    for (;;) {
      await system.schedule(ended.signal);
      await clock.sleep(60_000, ended.signal);
    }
  };
  const loops = Promise.allSettled([deliver(), schedule()]);
  await clock.pass(ms, until);
  ended.abort();
  await loops;
}

/** Agents for whose answers the clock waits, and for what a claimed one still reads. */
function trackAgents(store: DynamoCachingAgentStore, clock: VirtualClock): DynamoCachingAgentStore {
  const agents = clock.track(store);
  const claim: DynamoCachingAgentStore['claim'] = async (key, how) => {
    const answer = await agents.claim(key, how);
    return answer && clock.track(answer);
  };
  return new Proxy(agents, { get: (object, name) => (name === 'claim' ? claim : Reflect.get(object, name)) });
}

function makeMortal<T extends object>(target: T, death: AbortSignal): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        if (death.aborted) return hang();
        const answer: unknown = await Reflect.apply(value, object, args);
        return death.aborted ? hang() : answer;
      };
    },
  });
}

function createLog(take: (line: { level: string; message: string; fields: object }) => void): Logger {
  const at =
    (level: string) =>
    (message: string, fields = {}): void =>
      take({ level, message, fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
