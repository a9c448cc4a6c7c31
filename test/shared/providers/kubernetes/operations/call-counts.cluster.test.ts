import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import type { Provider } from '../../../../../shared/core/providers/provider.ts';
import { type ApiProxy, startApiProxy } from '../../../../support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '../../../../support/cluster/cluster.ts';
import { getPathOf } from '../live.ts';
import { createConfigMap, createJob, createService, createWorkload } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { runOperation } from './task-run.ts';
import { makeWorkload } from './workloads.ts';

/** An operation, what was before it, and the calls that it makes, by the methods' names. */
interface CountedOperation {
  readonly what: string;
  readonly operation: string;
  arrange?(namespace: string): Promise<unknown>;
  describe(namespace: string): JsonObject;
  readonly calls: string;
  /** Its manifests are deployed side by side: only how many calls there are is told, in the order of the methods' names. */
  readonly isParallel?: boolean;
}

const create = (namespace: string, plural: string, object: object) =>
  requestApi('POST', getPathOf(namespace, plural), object);
const deploy = (...manifests: JsonObject[]): JsonObject => ({ moniker: { app: 'shop' }, manifests });
const config = (namespace: string, value = '1', strategy?: string) =>
  createConfigMap(
    'flags',
    { value },
    {
      namespace,
      annotations: {
        'strategy.spinnaker.io/versioned': 'false',
        ...(strategy && { [`strategy.spinnaker.io/${strategy}`]: 'true' }),
      },
    },
  );
const versioned = (namespace: string, name = 'flags') => createConfigMap(name, { a: '1' }, { namespace });
const behind = (namespace: string, name: string) =>
  createWorkload('Deployment', name, {
    namespace,
    replicas: 0,
    annotations: {
      'traffic.spinnaker.io/load-balancers': '["service live"]',
      'strategy.spinnaker.io/use-source-capacity': 'true',
    },
  });
const web =
  (more: JsonObject = {}) =>
  (namespace: string) => ({
    manifestName: 'deployment web',
    location: namespace,
    ...more,
  });
const makeWeb = (namespace: string) => makeWorkload(namespace, 'deployment');
/** By Busdriver itself, so that it is unchanged the next time. */
let deployBefore: (description: JsonObject) => Promise<unknown>;
const before = (describe: (namespace: string) => JsonObject) => (namespace: string) =>
  deployBefore(describe(namespace));

const operations: readonly CountedOperation[] = [
  {
    what: 'deploy, new',
    operation: 'deployManifest',
    describe: (ns) => deploy(config(ns)),
    calls: 'GET POST',
  },
  {
    what: 'deploy, unchanged',
    operation: 'deployManifest',
    arrange: before((ns) => deploy(config(ns))),
    describe: (ns) => deploy(config(ns)),
    calls: 'GET',
  },
  {
    what: 'deploy, changed',
    operation: 'deployManifest',
    arrange: before((ns) => deploy(config(ns))),
    describe: (ns) => deploy(config(ns, '2')),
    calls: 'GET PATCH',
  },
  {
    what: 'deploy, new version',
    operation: 'deployManifest',
    describe: (ns) => deploy(versioned(ns)),
    calls: 'GET GET POST',
  },
  {
    what: 'deploy, version that is there',
    operation: 'deployManifest',
    arrange: before((ns) => deploy(versioned(ns))),
    describe: (ns) => deploy(versioned(ns)),
    calls: 'GET GET',
  },
  {
    what: 'deploy of three versions: their list is read once',
    operation: 'deployManifest',
    describe: (ns) => deploy(versioned(ns, 'a'), versioned(ns, 'b'), versioned(ns, 'c')),
    calls: 'GET GET GET GET POST POST POST',
    isParallel: true,
  },
  {
    what: 'deploy of two behind one service, that keep their size: the service is read once',
    operation: 'deployManifest',
    arrange: (ns) => create(ns, 'services', createService('live', { behind: 'live' })),
    describe: (ns) => deploy(behind(ns, 'a'), behind(ns, 'b')),
    calls: 'GET GET GET GET GET POST POST',
    isParallel: true,
  },
  {
    what: 'deploy by replace',
    operation: 'deployManifest',
    arrange: (ns) => create(ns, 'configmaps', config(ns)),
    describe: (ns) => deploy(config(ns, '2', 'replace')),
    calls: 'GET PUT',
  },
  {
    what: 'deploy by server-side apply',
    operation: 'deployManifest',
    describe: (ns) => deploy(config(ns, '2', 'server-side-apply')),
    calls: 'GET PATCH',
  },
  {
    what: 'deploy by recreate',
    operation: 'deployManifest',
    arrange: (ns) => create(ns, 'configmaps', config(ns)),
    describe: (ns) => deploy(config(ns, '2', 'recreate')),
    calls: 'GET DELETE GET POST',
  },
  {
    what: 'deploy with a made-up name',
    operation: 'deployManifest',
    describe: (ns) => deploy(createJob({ generateName: 'smoke-', namespace: ns })),
    calls: 'GET POST',
  },
  {
    what: 'run of a Job',
    operation: 'runJob',
    describe: (ns) => ({ application: 'shop', manifest: createJob({ name: 'smoke', namespace: ns }) }),
    calls: 'GET GET POST',
  },
  {
    what: 'patch by operations',
    operation: 'patchManifest',
    arrange: makeWeb,
    describe: web({
      patchBody: [{ op: 'replace', path: '/spec/replicas', value: 0 }],
      options: { mergeStrategy: 'json' },
    }),
    calls: 'GET PATCH',
  },
  {
    what: 'delete',
    operation: 'deleteManifest',
    arrange: (ns) => create(ns, 'configmaps', config(ns)),
    describe: (ns) => ({ manifestName: 'configMap flags', location: ns }),
    calls: 'GET DELETE',
  },
  {
    what: 'cleanup without a limit',
    operation: 'cleanupArtifacts',
    describe: (ns) => ({ manifests: [config(ns)] }),
    calls: '',
  },
];

describeWithCluster('calls of an operation', (cluster) => {
  let proxy: ApiProxy;
  let provider: Provider;

  beforeAll(async () => {
    proxy = await startApiProxy(cluster);
    provider = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    deployBefore = (description) =>
      runOperation(getOperation(provider, 'deployManifest'), { account: 'test', ...description });
  });
  afterAll(async () => {
    await provider[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });

  test.each(operations)('$what: $calls', async ({ operation, arrange, describe, calls, isParallel }) => {
    await using ns = await createNamespace('count');
    await arrange?.(ns.name);
    proxy.calls.length = 0;
    await runOperation(getOperation(provider, operation), { account: 'test', ...describe(ns.name) });
    const methods = proxy.calls.map(({ method }) => method);
    expect((isParallel ? methods.sort() : methods).join(' ')).toBe(calls);
  });
});
