import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cachingAgentLeaseMs } from '#caching/scheduling/caching-agent-schedule.ts';
import { type EndedTurn, runTurn } from '#caching/scheduling/run-turn.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { openAgents } from '#test/contracts/agent-bench.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createRandom } from '#test/support/run/seeded-random.ts';
import { createStandingClock, createTestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { type ScriptedServer, startScriptedServer } from '../client/scripted-server.ts';
import { type AgentBench, agentNames, openAgentBench, readCached } from './caching-agent-bench.ts';
import { answerAs, createWorld, type World } from './scripted-world.ts';

const openTable = useLocalTables();

describe('the first fill of an account', () => {
  let server: ScriptedServer;
  let world: World;

  beforeEach(async () => {
    world = createWorld();
    for (let index = 0; index < 300; index += 1) world.objects.set(`object-${index}`, 5);
    server = await startScriptedServer();
    server.script((response, request) => answerAs(world, request.path)(response, request));
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const openBench = (
    engine: StoreEngine,
    before?: AgentBench,
    // Timers do not fire by it: so it is for a process that was stopped and sees its answers first.
    { kinds = ['configMap'], clock = createStandingClock() } = {},
  ): AgentBench =>
    openAgentBench({
      engine,
      account: { kinds, namespaces: ['shop'], kubeconfigContents: server.getKubeconfig() },
      cacheSettings: { cacheAll: true },
      ...(before ? { before } : { clock }),
    });
  const readWorld = (): string[] => [...world.objects].map(([name, at]) => `${name}@${at}`).sort();

  /** Changes a third of the objects, and deletes another third. */
  const goOn = (): void => {
    world.now = 40;
    for (let index = 0; index < 300; index += 3) world.objects.set(`object-${index}`, 20);
    for (let index = 1; index < 300; index += 3) world.objects.delete(`object-${index}`);
  };

  test('that is frozen between two writes overwrites nothing newer, and brings nothing deleted back', async () => {
    const engine = openTable(cacheTable);
    const freezer = createFreezer(engine, 'answers');
    await using first = openBench(freezer.engine);
    const { store } = openAgents(engine, first.clock);
    await store.sync(await first.loadAgents());
    const frozen = session(first, store);
    await freezer.frozen;
    first.clock.advance(cachingAgentLeaseMs + 1_000);
    goOn();
    await using next = openBench(engine, first);
    expect((await session(next, store))?.agent.lastRun).toMatchObject({ outcome: 'SUCCESS', items: 201 });
    expect(await readCached(next, 'configMap')).toEqual(readWorld());
    freezer.thaw();
    expect(await frozen).toBeUndefined();
    expect(await readCached(next, 'configMap')).toEqual(readWorld());
  });

  test('whose requests come late overwrites nothing newer', async () => {
    const engine = openTable(cacheTable);
    const freezer = createFreezer(engine, 'requests');
    await using first = openBench(freezer.engine);
    const filling = Promise.allSettled([first.run()]);
    await freezer.frozen;
    world.now = 40;
    for (const name of world.objects.keys()) world.objects.set(name, 20);
    await using next = openBench(engine, first);
    expect(await next.run()).toMatchObject({ outcome: 'done', items: 301 });
    freezer.thaw();
    await filling;
    expect(await readCached(next, 'configMap')).toEqual(readWorld());
  });

  test('gets to its end although half of the writes are refused', async () => {
    const random = createRandom(7);
    const engine = watchObjectWrites(openTable(cacheTable), async (write) => {
      if (random() < 0.5) throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
      return write();
    });
    const clock = { ...createTestClock(), sleep: async () => undefined };
    await using bench = openBench(engine, undefined, { clock });
    expect(await bench.run()).toMatchObject({ outcome: 'done', items: 301 });
    expect(await readCached(bench, 'configMap')).toEqual(readWorld());
  });

  test('tells how far it is, and goes on from there when it was ended', async () => {
    const engine = openTable(cacheTable);
    const over = new AbortController();
    const written = new Set<string>();
    const watched = watchObjectWrites(engine, async (write, kind) => {
      written.add(kind);
      if (written.size > 2) over.abort(new Error('the worker stops'));
      return write();
    });
    const kinds = ['configMap', 'service', 'pod', 'job'];
    await using first = openBench(watched, undefined, { kinds });
    await expect(first.run({ signal: over.signal })).rejects.toThrow('the worker stops');
    const { filled = '' } = first.told.at(-1)?.details ?? {};
    expect(filled).toMatch(/^[12] of 4$/);
    const sent = server.seen.length;
    await using next = openBench(engine, first, { kinds });
    expect(await next.run()).toMatchObject({ outcome: 'done' });
    const lists = server.seen.slice(sent).filter(({ path }) => path.includes('limit=500'));
    expect(lists).toHaveLength(4 - Number.parseInt(String(filled), 10));
    for (const kind of kinds) expect(await readCached(next, kind)).toEqual(readWorld());
  });

  test('begins to write no further object once its lease is lost', async () => {
    const lost = new AbortController();
    const engine = openTable(cacheTable);
    const watched = watchObjectWrites(engine, async (write) => {
      lost.abort(new Error('the lease is lost'));
      return write();
    });
    await using bench = openBench(watched);
    await expect(bench.run({ signal: lost.signal })).rejects.toThrow('the lease is lost');
    // What was under way.
    expect((await readCached(bench, 'configMap')).length).toBeLessThan(50);
  });
});

/** Runs the core agent as a worker does, under a lease of its own. */
async function session(
  { cache, clock, loadAgents }: AgentBench,
  store: ReturnType<typeof openAgents>['store'],
): Promise<EndedTurn | undefined> {
  const agent = (await loadAgents()).find(({ name }) => name === agentNames.core);
  if (agent === undefined) throw new Error('there is no core agent');
  const turn = clock.now();
  const how = { owner: testRandomness.id(), turn, leaseMs: cachingAgentLeaseMs, demanded: true };
  const answer = await store.claim(agent, how);
  if (answer === undefined) throw new Error('the agent could not be claimed');
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  return runTurn({ agents: store, cache, clock, randomness: testRandomness, log }, agent, {
    claimed: answer,
    isAlone: true,
    stop: new AbortController().signal,
  });
}

/** Lets a write of objects through, and stops the process by the next: its requests, or its answers, wait until it is thawed. */
function createFreezer(
  engine: StoreEngine,
  what: 'requests' | 'answers',
): {
  readonly engine: StoreEngine;
  /** Resolves when something is held. */
  readonly frozen: Promise<void>;
  thaw(): void;
} {
  const held = Promise.withResolvers<void>();
  const thawed = Promise.withResolvers<void>();
  let writes = 0;
  return {
    engine: watchObjectWrites(engine, async (write) => {
      writes += 1;
      if (writes === 1) return write();
      const answer = what === 'answers' ? await write() : undefined;
      held.resolve();
      await thawed.promise;
      return answer ?? write();
    }),
    frozen: held.promise,
    thaw: () => thawed.resolve(),
  };
}

/** The same engine, whose clients have requests that write cached objects sent by this. */
function watchObjectWrites(
  engine: StoreEngine,
  send: <T>(write: () => Promise<T>, kind: string) => Promise<T>,
): StoreEngine {
  return {
    ...engine,
    openDocuments(): StoreTestClient {
      const documents = engine.openDocuments();
      documents.middlewareStack.add(
        (next) => async (args) => {
          const text = JSON.stringify(args.input);
          const [, kind] = /"pk":\{"S":"OBJECT#[^"]*#([^"#]+)"/.exec(text) ?? [];
          const isWrite = kind !== undefined && /"(Item|PutRequest)":/.test(text);
          return isWrite ? send(() => next(args), kind) : next(args);
        },
        { step: 'initialize', name: 'watchObjectWrites', priority: 'low' },
      );
      return documents;
    },
  };
}
