import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { getClaimableTurn } from '#caching/scheduling/caching-agent-schedule.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { toRevision } from '#caching/store/revision.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { toWriterOptions } from '#providers/kubernetes/cache-writer/cache-model.ts';
import type { ObjectChange } from '#providers/kubernetes/cache-writer/object-change.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { countCapacity, type Units } from '#test/support/engines/count-capacity.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';

export interface UnitsReport {
  readonly objects: number;
  /** Of a changed object, where four objects of an application change together. */
  readonly change: Units;
  /** Of a run of an agent in which nothing changed. */
  readonly idleRun: Units;
  /** Of an object that the hourly check looks at. */
  readonly check: Units;
}

const applications = 100;
const groupsEach = 10;
const account = 'bench';
const agent = {
  account,
  name: 'KubernetesCoreCachingAgent[1/1]',
  provider: 'kubernetes',
  intervalMs: 30_000,
};
const rounds = 250;
const changesTogether = 4;
/** Bytes of what an agent of eleven kinds leaves for its next run, about. */
const stateBytes = 850;

/** Counts what caching an account of 10,000 objects costs, on an empty table. */
export async function countUnits(documents: StoreTestClient): Promise<UnitsReport> {
  const counter = countCapacity(documents);
  const parts = { documents, tableName: cacheTable.name, clock: systemClock, randomness: systemRandomness };
  const cache = createCacheStore({ ...parts, codecs: kubernetesPlugin.rowCodecs ?? {} });
  const kindRegistry = createKindRegistry([]);
  const writer = createCacheWriter(
    toWriterOptions({
      cache,
      account: { name: account, kindRegistry, caching: { allApplicationRelationships: false } },
      clock: systemClock,
      randomness: systemRandomness,
    }),
  );
  const fleet = makeObjects();
  await writer.write(fleet.flat().map((facts, index) => toChange(facts, index + 1)));
  const objects = fleet.flat().length;
  counter.take();
  let resourceVersion = objects;
  for (let round = 0; round < rounds; round += 1) {
    const own = fleet[round % applications] ?? [];
    const changed = Array.from({ length: changesTogether }, (_, index) => {
      // Of ten changes seven are of pods, as in a cluster that rolls out.
      const facts = own[(round * 31 + index * 17) % own.length] as ObjectFacts;
      resourceVersion += 1;
      return toChange(toggle(facts, round), resourceVersion);
    });
    await writer.write(changed);
  }
  const change = divide(counter.take(), rounds * changesTogether);
  await readHeads(cache, new Set(fleet.flat().map(({ kind }) => kind)));
  const check = divide(counter.take(), objects);
  const agents = new DynamoCachingAgentStore(parts);
  await agents.sync([agent]);
  await runIdle(agents);
  counter.take();
  await cache.getEpoch(account);
  await runIdle(agents);
  return { objects, change, idleRun: counter.take(), check };
}

/** Reads what a check reads of the cache. */
async function readHeads(cache: CacheStore, kinds: ReadonlySet<string>): Promise<void> {
  for (const kind of kinds) {
    for await (const page of cache.listHeads(account, kind, { withGone: true })) {
      if (page.length === 0) throw new Error(`nothing is cached of the kind ${kind}`);
    }
  }
}

async function runIdle(agents: DynamoCachingAgentStore): Promise<void> {
  const turn = getClaimableTurn(agent, systemClock.now());
  const answer = await agents.claim(agent, { owner: 'bench', turn, leaseMs: 60_000, demanded: true });
  if (answer === undefined) throw new Error('the agent could not be claimed');
  const state = (await answer.readState()) ?? 'x'.repeat(stateBytes);
  const run = { outcome: 'SUCCESS', durationMs: 1_100, items: 10_000, changes: 0 } as const;
  const now = systemClock.now();
  await agents.finish(answer.lease, { ...run, asOfMs: now, nextRunMs: now + agent.intervalMs, state });
}

function toggle(facts: ObjectFacts, round: number): ObjectFacts {
  if (facts.pod === undefined) return facts;
  return { ...facts, pod: { phase: 'Running', containers: [{ name: 'main', isReady: round % 2 === 0 }] } };
}

function toChange(facts: ObjectFacts, resourceVersion: number): ObjectChange {
  const { kind, namespace, name } = facts;
  const revision = toRevision(1, String(resourceVersion));
  return { kind, location: namespace, name, revision, seenAt: revision, facts };
}

/** The objects of each application: Deployments, services, two ReplicaSets each with three pods. */
function makeObjects(): ObjectFacts[][] {
  return Array.from({ length: applications }, (_, index) => {
    const application = `shop${index}`;
    const namespace = `team${index % 20}`;
    return Array.from({ length: groupsEach }, (_, group) => makeGroup(application, namespace, group)).flat();
  });
}

function makeGroup(application: string, namespace: string, group: number): ObjectFacts[] {
  const name = `${application}-service${group}`;
  const make = (kind: string, own: string, more: Partial<ObjectFacts>): ObjectFacts => ({
    kind,
    spinnakerKind: 'unclassified',
    apiVersion: 'apps/v1',
    namespace,
    name: own,
    uid: `${kind}-${own}-5b1c6b9e-8d8e-4f4e`,
    resourceVersion: '1',
    createdTime: 1_790_000_000_000,
    labels: { app: name, 'app.kubernetes.io/name': application, 'app.kubernetes.io/managed-by': 'spinnaker' },
    moniker: { app: application, cluster: `deployment ${name}` },
    owners: [],
    ...more,
  });
  const deployment = make('deployment', name, { spinnakerKind: 'serverGroupManagers' });
  const service = make('service', name, {
    spinnakerKind: 'loadBalancers',
    service: { selector: { app: name } },
  });
  const toOwner = ({ kind, name: owner, uid }: ObjectFacts, isManager: boolean) => [
    { kind, name: owner, uid, isManager },
  ];
  const sets = ['6d5f7c9b80', '6d5f7c9b81'].map((hash) => {
    const workload = {
      replicas: 3,
      images: [`registry.example.com/${name}:1.2.3`],
      podLabels: { app: name },
      loadBalancers: [],
    };
    const set = make('replicaSet', `${name}-${hash}`, {
      spinnakerKind: 'serverGroups',
      owners: toOwner(deployment, true),
      workload,
    });
    const pods = ['x7k2p', 'q9r4m', 'z2w8n'].map((suffix) =>
      make('pod', `${set.name}-${suffix}`, {
        spinnakerKind: 'instances',
        owners: toOwner(set, false),
        pod: { phase: 'Running', containers: [{ name: 'main', isReady: true }] },
      }),
    );
    return [set, ...pods];
  });
  return [deployment, service, ...sets.flat()];
}

function divide({ requests, readUnits, writeUnits }: Units, by: number): Units {
  return { requests: requests / by, readUnits: readUnits / by, writeUnits: writeUnits / by };
}
