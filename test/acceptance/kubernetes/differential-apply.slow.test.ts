import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asJsonArray, getPath, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createTestClient } from '#test/shared/providers/kubernetes/client/client-setup.ts';
import {
  ApiStatusError,
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import {
  getName,
  type Outcome,
  readLiveObjects,
  removeObjects,
  writeByBusdriver,
  writeByKubectl,
} from './differential/cluster-writer.ts';
import { customKinds } from './differential/custom-kinds.ts';
import { generatePairs } from './differential/generated-pairs.ts';
import { intoNamespace, namePairs, normalizeObject, type Pair, type Verb } from './differential/pair.ts';
import { listWrittenPairs } from './differential/written-pairs.ts';

/** Another seed gives other generated pairs. */
const seed = 20_261_121;
const pairs = [
  ...namePairs(listWrittenPairs(), 'written'),
  ...namePairs(generatePairs(seed, chooseSize({ short: 0.15, long: 1 })), 'generated'),
];

type NamedPair = (typeof pairs)[number];

interface Writer {
  readonly namespace: string;
  write(manifests: readonly Manifest[], verb: Verb): Promise<Map<string, Outcome>>;
}

interface Trace {
  readonly outcome: string;
  readonly problem: string | undefined;
  readonly object: JsonValue | undefined;
}

const steps = ['first', 'second', 'again'] as const;
type Step = (typeof steps)[number];

describeWithCluster('apply leaves what kubectl leaves', ({ kubeconfig }) => {
  const client = createTestClient({ kubeconfigFile: kubeconfig });
  const namespaces: TestNamespace[] = [];
  const traces = { kubectl: new Map<string, Trace>(), busdriver: new Map<string, Trace>() };

  beforeAll(async () => {
    await Promise.all(customKinds.map(createCustomKind));
    namespaces.push(await createNamespace('by-kubectl'), await createNamespace('by-busdriver'));
    const [byKubectl = '', byBusdriver = ''] = namespaces.map(({ name }) => name);
    await Promise.all([
      runPairs({ namespace: byKubectl, write: writeByKubectl }, traces.kubectl),
      runPairs({ namespace: byBusdriver, write: writeAll }, traces.busdriver),
    ]);
  });

  afterAll(async () => {
    for (const namespace of namespaces) {
      const own = intoNamespace(pairs, namespace.name);
      await removeObjects([...(await readLiveObjects(own.map(({ second }) => second))).values()]);
      await namespace[Symbol.asyncDispose]();
    }
    await Promise.all(customKinds.map((kind) => requestApi('DELETE', `${definitions}/${getName(kind)}`)));
    await client[Symbol.asyncDispose]();
  });

  test.for(pairs)('$name: $title', ({ name }) => {
    for (const step of steps) {
      const expected = traces.kubectl.get(`${name} ${step}`);
      const actual = traces.busdriver.get(`${name} ${step}`);
      const message = `${step} write; Busdriver: ${actual?.problem}; kubectl: ${expected?.problem}`;
      expect(actual?.outcome, message).toBe(expected?.outcome);
      expect(actual?.object, message).toEqual(expected?.object);
    }
  });

  async function writeAll(manifests: readonly Manifest[], verb: Verb): Promise<Map<string, Outcome>> {
    const outcomes = new Map<string, Outcome>();
    for (const manifest of manifests) {
      outcomes.set(getName(manifest), await writeByBusdriver(client, manifest, verb));
    }
    return outcomes;
  }
});

async function runPairs(writer: Writer, traces: Map<string, Trace>): Promise<void> {
  const own = intoNamespace(pairs, writer.namespace);
  for (const step of steps) {
    if (step === 'second') await askSomebody(own);
    await runStep({ writer, step, pairs: own }, traces);
  }
}

interface StepRun {
  readonly writer: Writer;
  readonly step: Step;
  readonly pairs: readonly NamedPair[];
}

async function runStep({ writer, step, pairs }: StepRun, traces: Map<string, Trace>): Promise<void> {
  const getVerb = (pair: Pair) => (step === 'first' ? pair.firstVerb : pair.secondVerb) ?? 'apply';
  const getManifest = (pair: Pair) => (step === 'first' ? pair.first : pair.second);
  const outcomes = new Map<string, Outcome>();
  for (const [verb, group] of Map.groupBy(pairs, getVerb)) {
    for (const entry of await writer.write(group.map(getManifest), verb)) outcomes.set(...entry);
  }
  const objects = await readLiveObjects(pairs.map(getManifest));
  for (const pair of pairs) {
    const name = getName(getManifest(pair));
    const object = objects.get(name);
    const outcome = outcomes.get(name);
    traces.set(`${pair.name} ${step}`, {
      outcome: outcome?.word ?? 'none',
      problem: outcome?.problem,
      object: object && normalizeObject(object, writer.namespace),
    });
  }
}

/** Lets others do what they do between the first and the second write. */
async function askSomebody(pairs: readonly NamedPair[]): Promise<void> {
  for (const { method, target, body } of pairs.flatMap(({ between = [] }) => between)) {
    await requestApi(method, target, body).catch((error: unknown) => {
      if (!(error instanceof ApiStatusError)) throw error; // else the first write failed, as it should
    });
  }
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

async function createCustomKind(kind: Manifest): Promise<void> {
  await requestApi('POST', definitions, kind);
  for (;;) {
    const conditions = asJsonArray(
      getPath(await findObject(`${definitions}/${getName(kind)}`), 'status', 'conditions'),
    );
    if (
      conditions.some((each) => getPath(each, 'type') === 'Established' && getPath(each, 'status') === 'True')
    )
      return;
    await sleep(20);
  }
}
