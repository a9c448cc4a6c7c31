import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';
import { getName, readLiveObjects, writeByKubectl } from './differential/cluster-writer.ts';
import { intoNamespace, namePairs, normalizeObject, type Pair } from './differential/pair.ts';
import { listWrittenPairs } from './differential/written-pairs.ts';

/**
 * Those that are applied, and in whose course nobody else writes: test/acceptance/kubernetes/differential-apply.slow.test.ts has them all. Jobs
 * are left out: one without labels gets those of its template from the API server, and Spinnaker adds labels.
 */
const pairs = namePairs(
  listWrittenPairs(['workloads']).filter(
    ({ first, firstVerb, secondVerb, between }) =>
      first.kind !== 'Job' && !firstVerb && !secondVerb && !between,
  ),
  'deployed',
);

const steps = ['first', 'second', 'again'] as const;

describeWithCluster('deployManifest leaves what kubectl apply leaves', (cluster) => {
  const namespaces: TestNamespace[] = [];
  const traces = { kubectl: new Map<string, JsonValue>(), busdriver: new Map<string, JsonValue>() };

  beforeAll(async () => {
    await using system = await startSubject({ kubeconfig: cluster.kubeconfig });
    namespaces.push(await createNamespace('by-kubectl'), await createNamespace('by-busdriver'));
    const [byKubectl = '', byBusdriver = ''] = namespaces.map(({ name }) => name);
    const apply = async (manifests: readonly Manifest[]) => void (await writeByKubectl(manifests, 'apply'));
    await runSteps({ namespace: byKubectl, write: apply }, traces.kubectl);
    await runSteps(
      { namespace: byBusdriver, write: (manifests) => deployAll(system, manifests) },
      traces.busdriver,
    );
  });

  afterAll(async () => {
    for (const namespace of namespaces) await namespace[Symbol.asyncDispose]();
  });

  test.for(pairs)('$name: $title', ({ name }) => {
    for (const step of steps) {
      expect(traces.busdriver.get(`${name} ${step}`), step).toEqual(traces.kubectl.get(`${name} ${step}`));
    }
  });
});

interface Writer {
  readonly namespace: string;
  write(manifests: readonly Manifest[]): Promise<void>;
}

async function runSteps({ namespace, write }: Writer, traces: Map<string, JsonValue>): Promise<void> {
  for (const step of steps) {
    const own = intoNamespace(pairs, namespace);
    const getManifest = (pair: Pair) => (step === 'first' ? pair.first : pair.second);
    await write(own.map(getManifest));
    const objects = await readLiveObjects(own.map(getManifest));
    for (const pair of own) {
      const object = objects.get(getName(getManifest(pair)));
      if (object !== undefined) traces.set(`${pair.name} ${step}`, strip(normalizeObject(object, namespace)));
    }
  }
}

/** A task for each manifest: what the API server refuses fails its own task alone. */
async function deployAll(system: Subject, manifests: readonly Manifest[]): Promise<void> {
  const [account = ''] = system.accounts;
  const ids: string[] = [];
  for (const manifest of manifests) {
    const description = { account, moniker: { app: 'differential' }, versioned: false };
    ids.push(await system.postOperations([{ deployManifest: { ...description, manifests: [manifest] } }]));
  }
  for (const id of ids) await system.waitForTask(id, { timeoutMs: 60_000 });
}

/** Members that say who wrote, or that Spinnaker adds to what it deploys. */
const added =
  /^(managedFields|app\.kubernetes\.io\/(name|managed-by)|.*\.spinnaker\.io\/.*|kubectl\.kubernetes\.io\/last-applied-configuration)$/;

/** Without them, and without what becomes empty by that. */
function strip(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(strip);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value)
    .filter(([key]) => !added.test(key))
    .map(([key, member]) => [key, strip(member)] as const);
  const isEmptied = ([key, member]: readonly [string, JsonValue]) =>
    /^(labels|annotations)$/.test(key) && isJsonObject(member) && Object.keys(member).length === 0;
  return Object.fromEntries(members.filter((member) => !isEmptied(member)));
}
