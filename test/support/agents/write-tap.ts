import { type PassingCall, type ProxiedCluster, startApiProxy } from '../cluster/api-proxy.ts';

/** Called just before a write is passed on. @param count which write to the namespace it is, from 1 */
export type BeforeWrite = (call: PassingCall, count: number) => unknown;

/** A way to the cluster on which each test meets the writes to its own namespace. Disposing closes it. */
export interface WriteTap extends AsyncDisposable {
  /** A kubeconfig that leads through it. */
  readonly kubeconfig: string;
  /** Has writes to a namespace wait for what a test does before they are passed on; one that throws breaks the call. */
  meet(namespace: string, before: BeforeWrite): void;
  /** Names of the objects that were written to a namespace, each time that they were, in the order of the answers. */
  listWritten(namespace: string): readonly string[];
}

/** Opens it. */
export async function startWriteTap(cluster: ProxiedCluster): Promise<WriteTap> {
  const tests = new Map<string, { readonly before: BeforeWrite; count: number }>();
  const proxy = await startApiProxy(cluster, {
    async before(call) {
      const [, namespace = ''] = /\/namespaces\/([^/]+)/.exec(call.path) ?? [];
      const met = tests.get(namespace);
      if (met === undefined || call.method === 'GET') return;
      met.count += 1;
      await met.before(call, met.count);
    },
  });
  return {
    kubeconfig: proxy.kubeconfig,
    meet: (namespace, before) => void tests.set(namespace, { before, count: 0 }),
    listWritten: (namespace) =>
      proxy.calls
        .filter(({ method, written }) => method !== 'GET' && written?.metadata.namespace === namespace)
        .map(({ written }) => written?.metadata.name ?? ''),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
