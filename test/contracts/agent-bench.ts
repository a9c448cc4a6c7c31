import { getCachingAgentKey, parseCachingAgent } from '#caching/aws/agents/caching-agent-items.ts';
import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import { CacheTable } from '#caching/aws/store/cache-table.ts';
import { getClaimableTurn, getTurn } from '#caching/scheduling/caching-agent-schedule.ts';
import type {
  CachingAgentSpec,
  ClaimedCachingAgent,
  Finish,
  StoredCachingAgent,
} from '#caching/scheduling/caching-agent-store.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createStandingClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import type { StoreEngine } from './store-bench.ts';

/** A store of agents with a connection of its own, as one function of ours has it. */
export interface AgentBench {
  readonly store: DynamoCachingAgentStore;
  readonly table: CacheTable;
  readonly clock: TestClock;
  readonly documents: StoreTestClient;
}

/** Opens a store. Stores that are to see the same time share a clock. */
export function openAgents(engine: StoreEngine, clock: TestClock = createStandingClock()): AgentBench {
  const documents = engine.openDocuments();
  const parts = { documents, tableName: engine.tableName, clock, randomness: testRandomness };
  return { store: new DynamoCachingAgentStore(parts), table: new CacheTable(parts), clock, documents };
}

/** Milliseconds of a lease in tests. */
export const leaseMs = 20_000;

/** An agent of an account that no other test has. */
export function newSpec(changes: Partial<CachingAgentSpec> = {}): CachingAgentSpec {
  return {
    account: `account ${testRandomness.id()}`,
    name: 'core',
    provider: 'kubernetes',
    intervalMs: 30_000,
    ...changes,
  };
}

/**
 * Adds agents to those there are, and turns the clock to where a turn of the first one has begun: what a test does next takes
 * less than a turn.
 */
export async function add({ store, clock }: AgentBench, ...specs: CachingAgentSpec[]): Promise<void> {
  const others = (await store.list()).filter(({ removedAtMs }) => removedAtMs === undefined);
  await store.sync([...others, ...specs]);
  const [first] = specs;
  if (first !== undefined) clock.advance(first.intervalMs - (clock.now() - getTurn(first, clock.now())) + 10);
}

/** A store that has just been opened, and an agent that was added to it. */
export async function openWithAgent(open: () => AgentBench, changes?: Partial<CachingAgentSpec>) {
  const [bench, spec] = [open(), newSpec(changes)];
  await add(bench, spec);
  return { bench, spec };
}

/** Takes agents out of service. */
export async function removeAgents(
  { store }: AgentBench,
  ...specs: CachingAgentSpec[]
): Promise<readonly StoredCachingAgent[]> {
  const others = (await store.list()).filter(
    ({ account, removedAtMs }) =>
      removedAtMs === undefined && specs.every((spec) => spec.account !== account),
  );
  return (await store.sync(others)).removed;
}

/** Tries to claim an agent for its turn now, as a worker that nobody else is. */
export function tryClaim(
  { store, clock }: AgentBench,
  spec: CachingAgentSpec,
): Promise<ClaimedCachingAgent | undefined> {
  const turn = getClaimableTurn(spec, clock.now());
  return store.claim(spec, { owner: `${testRandomness.id()}@test`, turn, leaseMs });
}

/** Claims an agent. */
export async function claim(bench: AgentBench, spec: CachingAgentSpec): Promise<ClaimedCachingAgent> {
  const answer = await tryClaim(bench, spec);
  if (answer === undefined) throw new Error('the agent could not be claimed');
  return answer;
}

/** The end of a good run. */
export function success(nextRunMs: number, changes: Partial<Finish> = {}): Finish {
  return { outcome: 'SUCCESS', durationMs: 12, items: 3, changes: 1, nextRunMs, ...changes };
}

/** The agent as it is stored. */
export async function find(
  { table }: AgentBench,
  spec: CachingAgentSpec,
): Promise<StoredCachingAgent | undefined> {
  const item = await table.get(getCachingAgentKey(spec));
  return item && parseCachingAgent(item);
}
