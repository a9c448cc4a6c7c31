import { setTimeout as sleep } from 'node:timers/promises';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll } from 'vitest';
import { createStreamQueue } from '#caching/aws/agents/stream-queue.ts';
import type { CachingAgent, CachingResult, WatchRun } from '#caching/scheduling/caching-agent.ts';
import type { CachingAgentKey, StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { runStreams } from '#caching/scheduling/streams/run-streams.ts';
import type { StreamedCachingAgent, StreamMessage } from '#caching/scheduling/streams/stream-queue.ts';
import type { StreamSystem } from '#caching/scheduling/streams/stream-worker.ts';
import type { Logger } from '#core/logger.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import type { BusEvent } from '#platform/ports/event-bus.ts';
import { type AgentBench, find, newSpec, openAgents } from '#test/contracts/agent-bench.ts';
import { openCache } from '#test/contracts/cache-bench.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import { startSqs } from '#test/support/engines/engine-servers.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createQueue, type TestQueue } from '#test/support/engines/test-queue.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';

type Progress = Omit<CachingResult, 'outcome'>;

/** An agent whose changes the test tells. What it was begun with, and how that ended, stays to be seen. */
export class ScriptedAgent implements CachingAgent {
  readonly name = 'core';
  readonly provider = 'kubernetes';
  readonly intervalMs = 30_000;
  readonly timeoutMs = 60_000;
  mode: CachingAgent['mode'] = 'stream';
  readonly account = newSpec().account;
  /** States that it was begun with. */
  readonly begun: (string | undefined)[] = [];
  /** Of these still going on. */
  running = 0;
  #latest: { run: WatchRun; fail(error: Error): void } | undefined;
  /** Whether it ends when it is told to. */
  isObedient = true;

  async run(): Promise<CachingResult> {
    throw new Error('nobody runs what is to be watched');
  }

  async watch(run: WatchRun): Promise<CachingResult> {
    this.begun.push(run.state);
    this.running += 1;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#latest = { run, fail: reject };
        if (this.isObedient) run.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } finally {
      this.running -= 1;
    }
    return { outcome: 'done', state: 'the end', items: 3, changes: 9 };
  }

  /** Tells that the one that was begun last has come so far. */
  tell(state: string, progress: Partial<Progress> = {}): void {
    this.#latest?.run.onProgress({ state, items: 3, changes: Number.parseInt(state, 10) || 0, ...progress });
  }

  /** Offers what proves on demand how far the one that was begun last has come; undefined: nothing does. */
  offerProof(prove: (() => Promise<void>) | undefined): void {
    this.#latest?.run.onProvable?.(prove);
  }

  /** Lets the one that was begun last fail. */
  fail(message: string): void {
    this.#latest?.fail(new Error(message));
  }
}

/** A worker that runs. */
export interface StartedWorker {
  readonly done: Promise<void>;
  /** What is configured: to be changed at will. */
  readonly configured: Map<string, CachingAgent>;
  handOver(): void;
  /** Ends its time, and waits for its end. */
  stop(): Promise<void>;
  /** As a process dies: it says nothing any more, and hears nothing. */
  kill(): void;
}

/** Workers on real stores, with a clock that can be turned. */
export interface StreamBench extends AgentBench {
  readonly queue: TestQueue;
  start(agents: readonly ScriptedAgent[], message?: StreamMessage): StartedWorker;
  /** Takes the next message off the queue. */
  receive(): Promise<StreamMessage>;
  /** The agent as it is stored. */
  find(agent: ScriptedAgent): Promise<StoredCachingAgent>;
  /** Waits, with the clock running fast, until this holds. */
  until(check: () => boolean | Promise<boolean>): Promise<void>;
  /** What was published, and recorded of lags. */
  readonly events: readonly BusEvent[];
  readonly lagsMs: number[];
  readonly logged: { readonly message: string; readonly fields: unknown }[];
}

/** How much faster than the machine's the clock runs while a test waits. */
const hurry = 60;
/** Of the machine's milliseconds between two looks so many are hurried: where it stops for a second, no minute passes. */
const hurriedMs = 20;

/** Real engines for the tests of a file. @returns what opens a bench on them, with these agents in service. */
export function useStreams(): (agents: readonly ScriptedAgent[]) => Promise<StreamBench> {
  const openTable = useLocalTables();
  let sqs: Awaited<ReturnType<typeof startSqs>>;
  beforeAll(async () => {
    sqs = await startSqs();
  });
  afterAll(() => sqs[Symbol.asyncDispose]());
  return async (agents) => openBench(openTable(cacheTable), await createQueue(sqs.url, {}), agents);
}

async function openBench(
  engine: StoreEngine,
  queue: TestQueue,
  agents: readonly ScriptedAgent[],
): Promise<StreamBench> {
  const bench = openAgents(engine, createTestClock());
  const logged: { message: string; fields: unknown }[] = [];
  const events: BusEvent[] = [];
  const lagsMs: number[] = [];
  const add = (message: string, fields?: unknown): void => void logged.push({ message, fields });
  const log: Logger = { debug: add, info: add, warn: add, error: add };
  const client = new SQSClient({ ...localClientOptions, endpoint: new URL(queue.url).origin });
  await client.send(new CreateQueueCommand({ QueueName: queue.name }));
  const system: StreamSystem = {
    cache: openCache(engine, bench.clock).store,
    agents: bench.store,
    streams: createStreamQueue(client, queue.url),
    clock: bench.clock,
    randomness: { fraction: () => 0, id: () => crypto.randomUUID() },
    log,
    host: 'test',
    bus: { publish: async (published) => void events.push(...published) },
    recordLags: (recorded) => void lagsMs.push(...recorded),
    recordTooLarge: () => undefined,
  };
  const others = (await bench.store.list()).filter(({ removedAtMs }) => removedAtMs === undefined);
  await bench.store.sync([...others, ...agents]);
  for (const agent of await bench.store.list()) {
    const isOurs = agents.some(({ account }) => account === agent.account);
    if (isOurs) await bench.store.setMode(agent, { mode: 'stream', reason: 'default' });
  }
  return {
    ...bench,
    queue,
    logged,
    events,
    lagsMs,
    start: (found, message = { agents: found.map(toKey) }) => startWorker(system, found, message),
    async receive() {
      const [message] = await queue.receive({ WaitTimeSeconds: 5 });
      await queue.delete(message);
      return JSON.parse(message?.Body ?? 'null') as StreamMessage;
    },
    async find(agent) {
      const found = await find(bench, agent);
      if (found === undefined) throw new Error(`no agent ${agent.account}`);
      return found;
    },
    async until(check) {
      const endsAtMs = performance.now() + 50_000;
      for (let lastMs = performance.now(); !(await check()); ) {
        await sleep(5);
        const nowMs = performance.now();
        if (nowMs > endsAtMs) throw new Error(`this did not come true: ${check}`);
        bench.clock.advance(hurry * Math.min(nowMs - lastMs, hurriedMs));
        lastMs = nowMs;
      }
    },
  };
}

function toKey({ account, name }: StreamedCachingAgent): StreamedCachingAgent {
  return { account, name };
}

function startWorker(
  system: StreamSystem,
  agents: readonly ScriptedAgent[],
  message: StreamMessage,
): StartedWorker {
  const [handOver, stop] = [new AbortController(), new AbortController()];
  const configured = new Map<string, CachingAgent>(agents.map((agent) => [agent.account, agent]));
  const mortal = makeMortal(system);
  const done = runStreams(mortal.system, message, {
    loadAgents: async () => {
      const current = new Map(configured);
      return ({ account }: CachingAgentKey) => current.get(account);
    },
    handOver: handOver.signal,
    stop: stop.signal,
  });
  return {
    done,
    configured,
    handOver: () => handOver.abort(),
    kill: mortal.kill,
    async stop() {
      stop.abort();
      await done;
    },
  };
}

/** A system none of whose calls goes out or comes back once it was killed. */
function makeMortal(system: StreamSystem): { readonly system: StreamSystem; kill(): void } {
  let isDead = false;
  const never = new Promise<never>(() => undefined);
  const wrap = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return async (...parameters: unknown[]) => {
          if (isDead) return never;
          const answer: unknown = await member.apply(target, parameters);
          return isDead ? never : answer;
        };
      },
    });
  return {
    system: { ...system, agents: wrap(system.agents), streams: wrap(system.streams) },
    kill() {
      isDead = true;
    },
  };
}
