import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { type ApiProxy, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { createLive } from '../live.ts';
import { createConfigMap, createJob, createService, createWorkload } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { runOperation } from './task-run.ts';

/** An operation, what was before it, and the calls that it makes, by the methods' names. */
interface CountedOperation {
  readonly what: string;
  /** Default: `deployManifest`. */
  readonly operation?: string;
  arrange?(namespace: string): Promise<unknown>;
  describe(namespace: string): JsonObject;
  readonly calls: string;
  /** Its manifests are deployed side by side: only how many calls there are is told, in the order of the methods' names. */
  readonly isParallel?: boolean;
}

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
/** By Busdriver itself, so that it is unchanged the next time. */
let deployBefore: (description: JsonObject) => Promise<unknown>;
const before = (describe: (namespace: string) => JsonObject) => (namespace: string) =>
  deployBefore(describe(namespace));

const numbered = (namespace: string) => deploy(versioned(namespace));

const operations: readonly CountedOperation[] = [
  { what: 'deploy, new version', describe: numbered, calls: 'GET GET POST' },
  { what: 'deploy, version that is there', arrange: before(numbered), describe: numbered, calls: 'GET GET' },
  {
    what: 'deploy of three versions: their list is read once',
    describe: (ns) => deploy(versioned(ns, 'a'), versioned(ns, 'b'), versioned(ns, 'c')),
    calls: 'GET GET GET GET POST POST POST',
    isParallel: true,
  },
  {
    what: 'deploy of two behind one service, that keep their size: the service is read once',
    arrange: (ns) => createLive(ns, 'services', createService('live', { behind: 'live' })),
    describe: (ns) => deploy(behind(ns, 'a'), behind(ns, 'b')),
    calls: 'GET GET GET GET GET POST POST',
    isParallel: true,
  },
  {
    what: 'deploy by replace',
    arrange: (ns) => createLive(ns, 'configmaps', config(ns)),
    describe: (ns) => deploy(config(ns, '2', 'replace')),
    calls: 'GET PUT',
  },
  {
    what: 'deploy by server-side apply',
    describe: (ns) => deploy(config(ns, '2', 'server-side-apply')),
    calls: 'GET PATCH',
  },
  {
    what: 'deploy by recreate',
    arrange: (ns) => createLive(ns, 'configmaps', config(ns)),
    describe: (ns) => deploy(config(ns, '2', 'recreate')),
    calls: 'GET DELETE GET POST',
  },
  {
    what: 'deploy with a made-up name',
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
    what: 'delete',
    operation: 'deleteManifest',
    arrange: (ns) => createLive(ns, 'configmaps', config(ns)),
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
  disposeAfterAll(() => [provider, proxy]);

  test.each(operations)(
    '$what: $calls',
    async ({ operation = 'deployManifest', arrange, describe, calls, isParallel }) => {
      await using ns = await createNamespace('count');
      await arrange?.(ns.name);
      proxy.calls.length = 0;
      await runOperation(getOperation(provider, operation), { account: 'test', ...describe(ns.name) });
      const methods = proxy.calls.map(({ method }) => method);
      expect((isParallel ? methods.sort() : methods).join(' ')).toBe(calls);
    },
  );
});
