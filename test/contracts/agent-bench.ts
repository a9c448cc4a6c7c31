import { getAgentKey, parseAgent } from '#caching/aws/agents/agent-items.ts';
import { DynamoAgentStore } from '#caching/aws/agents/agent-store.ts';
import { CacheTable } from '#caching/aws/store/cache-table.ts';
import { getClaimableTurn, getTurn } from '#caching/scheduling/agent-schedule.ts';
import type { Agent, AgentSpec, ClaimedAgent, Finish } from '#caching/scheduling/agent-store.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createStandingClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import type { StoreEngine } from './store-bench.ts';

/** A store of agents with a connection of its own, as one function of ours has it. */
export interface AgentBench {
  readonly store: DynamoAgentStore;
  readonly table: CacheTable;
  readonly clock: TestClock;
  readonly documents: StoreTestClient;
}

/** Opens a store. Stores that are to see the same time share a clock. */
export function openAgents(engine: StoreEngine, clock: TestClock = createStandingClock()): AgentBench {
  const documents = engine.openDocuments();
  const parts = { documents, tableName: engine.tableName, clock, randomness: testRandomness };
  return { store: new DynamoAgentStore(parts), table: new CacheTable(parts), clock, documents };
}

/** Milliseconds of a lease in tests. */
export const leaseMs = 20_000;

/** An agent of an account that no other test has. */
export function newSpec(changes: Partial<AgentSpec> = {}): AgentSpec {
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
export async function add({ store, clock }: AgentBench, ...specs: AgentSpec[]): Promise<void> {
  const others = (await store.list()).filter(({ removedAtMs }) => removedAtMs === undefined);
  await store.sync([...others, ...specs]);
  const [first] = specs;
  if (first !== undefined) clock.advance(first.intervalMs - (clock.now() - getTurn(first, clock.now())) + 10);
}

/** A store that has just been opened, and an agent that was added to it. */
export async function openWithAgent(open: () => AgentBench, changes?: Partial<AgentSpec>) {
  const [bench, spec] = [open(), newSpec(changes)];
  await add(bench, spec);
  return { bench, spec };
}

/** Takes agents out of service. */
export async function removeAgents({ store }: AgentBench, ...specs: AgentSpec[]): Promise<readonly Agent[]> {
  const others = (await store.list()).filter(
    ({ account, removedAtMs }) =>
      removedAtMs === undefined && specs.every((spec) => spec.account !== account),
  );
  return (await store.sync(others)).removed;
}

/** Tries to claim an agent for its turn now, as a worker that nobody else is. */
export function tryClaim({ store, clock }: AgentBench, spec: AgentSpec): Promise<ClaimedAgent | undefined> {
  const turn = getClaimableTurn(spec, clock.now());
  return store.claim(spec, { owner: `${testRandomness.id()}@test`, turn, leaseMs });
}

/** Claims an agent. */
export async function claim(bench: AgentBench, spec: AgentSpec): Promise<ClaimedAgent> {
  const answer = await tryClaim(bench, spec);
  if (answer === undefined) throw new Error('the agent could not be claimed');
  return answer;
}

/** The end of a good run. */
export function success(nextRunMs: number, changes: Partial<Finish> = {}): Finish {
  return { outcome: 'SUCCESS', durationMs: 12, items: 3, changes: 1, nextRunMs, ...changes };
}

/** The agent as it is stored. */
export async function find({ table }: AgentBench, spec: AgentSpec): Promise<Agent | undefined> {
  const item = await table.get(getAgentKey(spec));
  return item && parseAgent(item);
}
