import { setTimeout as sleep } from 'node:timers/promises';
import { getPath, type JsonObject } from '#core/json.ts';
import {
  arrange,
  countEffects,
  findWrongs,
  isMatch,
  type LiveObject,
  type TrialOutcome,
} from '#test/acceptance/tasks/faults/effects.ts';
import {
  type OperationSort,
  operationSorts,
  type Place,
} from '#test/acceptance/tasks/faults/faulty-operations.ts';
import { getPathOf } from '#test/shared/providers/kubernetes/live.ts';
import {
  createConfigMap,
  createSecret,
  createService,
  createWorkload,
} from '#test/shared/providers/kubernetes/manifests.ts';
import { findObject, requestApi } from '#test/support/cluster/cluster.ts';
import { createRandom, drawItem } from '#test/support/run/seeded-random.ts';

export type Operation = { readonly [name: string]: JsonObject };

/** Operations about one object. As a rule each is posted when the one before has ended, so that what comes late shows. */
export interface ChainSort {
  readonly name: string;
  readonly weight: number;
  arrange(place: Place): Promise<void>;
  listOperations(place: Place): readonly Operation[];
  /** True when they are posted all at once; then what each one tells depends on the others. */
  readonly isConcurrent?: boolean;
  /** Lets come what its operations wait for. Default: they wait for nothing. */
  release?(place: Place, options: ReleaseOptions): Promise<void>;
  findWrongs(place: Place, outcome: TrialOutcome): string[];
}

interface ReleaseOptions {
  /** For how long they are to wait, milliseconds. */
  readonly holdMs: number;
  /** Aborted when they wait no longer, however that came. */
  readonly signal: AbortSignal;
}

export interface Chain {
  readonly sort: ChainSort;
  readonly place: Place;
  readonly operations: readonly Operation[];
}

const account = 'test';
const moniker = { app: 'chains' };
const deploy = (manifest: object): Operation => ({
  deployManifest: { account, moniker, manifests: [manifest as JsonObject] },
});

const about = ({ namespace, name }: Place, kind: string, more: JsonObject = {}): JsonObject => ({
  account,
  manifestName: `${kind} ${name}`,
  location: namespace,
  ...more,
});

/** A Deployment that is changed in all ways: each changes its generation, and none may do so twice, or late. */
const rollout: ChainSort = {
  name: 'rollout',
  weight: 12,
  arrange: async () => undefined,
  listOperations(place) {
    const { namespace, name } = place;
    const web = (image: string) =>
      createWorkload('Deployment', name, { namespace, replicas: 0, image: `registry.test/web:${image}` });
    const patchBody = { metadata: { labels: { patched: 'yes' } }, spec: { minReadySeconds: 3 } };
    return [
      deploy(web('1')),
      { scaleManifest: about(place, 'deployment', { replicas: 1 }) },
      { patchManifest: about(place, 'deployment', { patchBody, options: { mergeStrategy: 'strategic' } }) },
      { rollingRestartManifest: about(place, 'deployment') },
      { pauseRolloutManifest: about(place, 'deployment') },
      { resumeRolloutManifest: about(place, 'deployment') },
      deploy(web('2')),
    ];
  },
  findWrongs({ name }, { isDone, live }) {
    const [object] = takeOwn(live.get('deployments'), name);
    const expected = {
      metadata: { generation: 7, labels: { patched: 'yes' } },
      spec: {
        ...{ replicas: 0, minReadySeconds: 3 },
        template: { spec: { containers: [{ image: 'registry.test/web:2' }] } },
      },
    };
    return isDone && !isMatch(object, expected)
      ? [`${name} is not what its chain made of it: ${describe(object)}`]
      : [];
  },
};

const texts = ['a', 'b', 'c', 'd'];

/** A versioned ConfigMap: each content gets a version, and none two. */
const versions: ChainSort = {
  name: 'versions',
  weight: 8,
  arrange: async () => undefined,
  listOperations: ({ namespace, name }) =>
    texts.map((text) => deploy(createConfigMap(name, { text }, { namespace }))),
  findWrongs({ name }, { isDone, live }) {
    const own = takeOwn(live.get('configmaps'), `${name}-v`).map((object) => [
      object.metadata.name,
      object['data'],
    ]);
    const expected = texts.map((text, index) => [`${name}-v00${index}`, { text }]);
    const isRight = JSON.stringify(own.toSorted()) === JSON.stringify(expected);
    return isDone && !isRight
      ? [`${name} has other versions than it was deployed with: ${JSON.stringify(own)}`]
      : [];
  },
};

/** Deploys of one versioned ConfigMap that come all at once, each with a content of its own, which takes a version of its own. */
const colliding: ChainSort = {
  name: 'colliding',
  weight: 3,
  isConcurrent: true,
  arrange: async () => undefined,
  listOperations: ({ namespace, name }) =>
    texts.map((text) => deploy(createConfigMap(name, { text }, { namespace }))),
  findWrongs({ name }, { isDone, live }) {
    const own = takeOwn(live.get('configmaps'), `${name}-v`).map((object) => getPath(object, 'data', 'text'));
    const isRight = JSON.stringify(own.toSorted()) === JSON.stringify(texts);
    return isDone && !isRight ? [`${name} has versions of other contents than were deployed: ${own}`] : [];
  },
};

const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];

/** A list that grows by JSON patches: none may be applied twice. */
const appended: ChainSort = {
  name: 'appended-often',
  weight: 8,
  async arrange({ namespace, name }) {
    const service = createService(name, { app: name }, { namespace });
    const spec = { selector: { app: name }, ports: [{ port: 80 }], externalIPs: [addresses[0]] };
    await requestApi('POST', getPathOf(namespace, 'services'), { ...service, spec });
  },
  listOperations: (place) =>
    addresses.slice(1).map((value) => {
      const patchBody = [{ op: 'add', path: '/spec/externalIPs/-', value }];
      return { patchManifest: about(place, 'service', { patchBody, options: { mergeStrategy: 'json' } }) };
    }),
  findWrongs({ name }, { isDone, live }) {
    const [object] = takeOwn(live.get('services'), name);
    const isRight = isMatch(object, { spec: { externalIPs: addresses } });
    return isDone && !isRight ? [`${name} is not what its patches made of it: ${describe(object)}`] : [];
  },
};

const held: OperationSort = {
  ...{ name: 'held', count: 60, plural: 'configmaps', isGone: true, writesOnce: false },
  arrange: ({ namespace, name }) => ({
    ...createConfigMap(name, { value: 'old' }),
    metadata: { name, namespace, finalizers: ['busdriver.test/held'] },
  }),
  create: (place) => ({ deleteManifest: about(place, 'configMap') }),
};

/** A deletion that waits for a finalizer. */
const heldDeletion: ChainSort = {
  ...toChainSort(held),
  release: releaseHeld,
  findWrongs({ name }, { isDone, live, calls }) {
    const deleted = calls.filter(({ written }) => written?.metadata.name === name);
    const isThere = takeOwn(live.get('configmaps'), name).length > 0;
    return [
      ...(isDone && isThere ? [`${name} is said to be gone, but is not`] : []),
      // What is asked for again, and still ends, is answered as it is.
      ...(countEffects(deleted) > 1 ? [`${name} is deleted more than once`] : []),
    ];
  },
};

/** A deploy that waits for the deletion of what it is to replace. */
const heldRecreation: ChainSort = {
  ...heldDeletion,
  name: 'held-recreation',
  listOperations({ namespace, name }) {
    const annotations = {
      'strategy.spinnaker.io/recreate': 'true',
      'strategy.spinnaker.io/versioned': 'false',
    };
    return [deploy(createConfigMap(name, { value: 'new' }, { namespace, annotations }))];
  },
  findWrongs({ name }, { isDone, live, calls }) {
    const [object] = takeOwn(live.get('configmaps'), name);
    const written = calls.filter((call) => call.written?.metadata.name === name);
    const uids = new Set(written.map((call) => call.written?.metadata.uid));
    const isRight = isMatch(object, { data: { value: 'new' } });
    return [
      ...(isDone && !isRight ? [`${name} is not what it was deployed as: ${JSON.stringify(object)}`] : []),
      ...(uids.size > 2 ? [`${name} was made more than once`] : []),
    ];
  },
};

async function releaseHeld({ namespace, name }: Place, { holdMs, signal }: ReleaseOptions): Promise<void> {
  const target = getPathOf(namespace, `configmaps/${name}`);
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  while (getPath(await findObject(target), 'metadata', 'deletionTimestamp') === undefined) {
    if (signal.aborted) return;
    await pause(500);
  }
  await pause(holdMs);
  await requestApi('PATCH', target, { metadata: { finalizers: null } });
}

/** Does something about a chain, and meanwhile lets come what its operations wait for. */
export async function withRelease<T>(
  { sort, place }: Chain,
  holdMs: number,
  act: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const releasing = sort.release?.(place, { holdMs, signal: over.signal });
  try {
    return await act();
  } finally {
    over.abort();
    await releasing;
  }
}

/** Every sort of chain: those of the test of failing API servers with one operation each, and longer ones. */
export function listChainSorts(plantedSecret: string): readonly ChainSort[] {
  return [
    ...operationSorts.map((sort) => toChainSort(sort, plantedSecret)),
    rollout,
    versions,
    colliding,
    appended,
    heldDeletion,
    heldRecreation,
  ];
}

function toChainSort(sort: OperationSort, plantedSecret = ''): ChainSort {
  const create = (place: Place) => {
    if (sort.name !== 'secret') return sort.create(place);
    return deploy(createSecret(place.name, plantedSecret, { namespace: place.namespace }));
  };
  return {
    name: sort.name,
    weight: sort.count / 10,
    arrange: (place) => arrange({ sort, place }),
    listOperations: (place) => [create(place)],
    findWrongs: (place, outcome) => findWrongs({ sort, place }, outcome),
  };
}

/** Draws chains of so many operations altogether, the last one as long as it is; so many of them, at the beginning, wait for something. */
export function drawChains(
  sorts: readonly ChainSort[],
  {
    seed,
    operations,
    namespace,
    waits = 0,
  }: {
    readonly seed: number;
    readonly operations: number;
    readonly namespace: string;
    readonly waits?: number;
  },
): Chain[] {
  const random = createRandom(seed);
  const urn = sorts.flatMap((sort) => Array.from({ length: Math.ceil(sort.weight) }, () => sort));
  const waiting = urn.filter(({ release }) => release !== undefined);
  const chains: Chain[] = [];
  for (let count = 0; count < operations; ) {
    const sort = drawItem(random, chains.length < waits ? waiting : urn);
    const chain = createChain(sort, namespace, chains.length);
    count += chain.operations.length;
    chains.push(chain);
  }
  return chains;
}

/** The n-th chain of a run. */
export function createChain(sort: ChainSort, namespace: string, index: number): Chain {
  const place = { namespace, name: `${sort.name}-${index}` };
  return { sort, place, operations: sort.listOperations(place) };
}

function takeOwn(objects: readonly LiveObject[] | undefined, name: string): LiveObject[] {
  const isOwn = (found: string) => (name.endsWith('-v') ? found.startsWith(name) : found === name);
  return (objects ?? []).filter(({ metadata }) => isOwn(metadata.name));
}

function describe(object: LiveObject | undefined): string {
  return JSON.stringify({ metadata: object?.metadata, spec: object?.['spec'] });
}
