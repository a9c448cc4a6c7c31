import { vi } from 'vitest';
import { getPath, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { readName } from '#providers/kubernetes/manifest/identity.ts';
import { type ApiProxyOptions, type ProxiedCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, requestApi, type TestCluster } from '#test/support/cluster/cluster.ts';
import {
  type AnsweredCall,
  type CallWatch,
  type OpenedWorker,
  type OperationCloud,
  specAccounts,
  type WorkerOptions,
} from '#test/support/conformance/operation-spec.ts';
import { findLive, getPathOf, listNames } from '../live.ts';
import { openProvider } from '../provider-setup.ts';
import type { KubernetesPlace } from './specs/spec.ts';

/** Members of objects that the API server and controllers make up. */
const madeUp = new Set([
  ...['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'status'],
  ...[
    'deployment.kubernetes.io/revision',
    'generation',
    'controller-uid',
    'batch.kubernetes.io/controller-uid',
  ],
]);

/** Options that accounts have besides. */
export interface CloudAccounts {
  /** Of all of them. */
  readonly common?: JsonObject;
  /** Of the one that may use every namespace. */
  readonly everywhere?: JsonObject;
}

/**
 * A cluster as the cloud of Kubernetes operations: each run has a namespace, and each worker a proxy in front of the API server.
 *
 * @param accounts Default: nothing.
 */
export function createKubernetesCloud(
  cluster: TestCluster,
  accounts: CloudAccounts = {},
): OperationCloud<KubernetesPlace, readonly Manifest[]> {
  return {
    provider: 'kubernetes',
    credentials: new Map([['token', cluster.token]]),
    async createPlace() {
      const namespace = await createNamespace('operation');
      const { name } = namespace;
      return {
        name,
        findLive: (resource) => findLive(name, resource),
        listNames: (plural) => listNames(name, plural),
        listItems: async (plural) => {
          const list = await requestApi('GET', getPathOf(name, plural));
          return getPath(list, 'items') as JsonObject[];
        },
        [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose](),
      };
    },
    async arrange({ name }, manifests) {
      const present = new Set<string>();
      for (const manifest of manifests) {
        const { collection, path } = toResource(manifest);
        const isPresent = present.has(path);
        await requestApi(
          isPresent ? 'PATCH' : 'POST',
          getPathOf(name, isPresent ? path : collection),
          manifest,
        );
        present.add(path);
        await waitForRest(() => findLive(name, path));
      }
    },
    openWorker: (options) => openWorker(cluster, accounts, options),
    isWithin: ({ path }, place) => path.includes(`/namespaces/${place}/`),
    normalize: omitMadeUp,
  };
}

async function openWorker(
  cluster: TestCluster,
  { common = {}, everywhere = {} }: CloudAccounts,
  options: WorkerOptions,
): Promise<OpenedWorker> {
  const { place, watch, log } = options;
  const proxy = await startApiProxy(cluster, toProxyOptions(watch));
  const kubeconfigFile = proxy.kubeconfig;
  const provider = openProvider(
    [
      { name: specAccounts.everywhere, kubeconfigFile, ...common, ...everywhere },
      { name: specAccounts.within, kubeconfigFile, ...common, namespaces: [place] },
      { name: specAccounts.elsewhere, kubeconfigFile, ...common, namespaces: ['elsewhere'] },
    ],
    { log },
  );
  return {
    provider,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

function toProxyOptions(watch: CallWatch): ApiProxyOptions {
  const isWrite = (method: string): boolean => method !== 'GET';
  return {
    getFault({ method, path, body }) {
      const message = watch.before({ method, path, isWrite: isWrite(method) }, body);
      return message === undefined ? undefined : { type: 'status', status: 422, message };
    },
    cut: (call) => !watch.after(toAnsweredCall(call, isWrite(call.method))),
  };
}

/** An object must not be created twice, nor deleted; a patch may be sent again. */
function toAnsweredCall({ method, path, status, written }: ProxiedCall, isWrite: boolean): AnsweredCall {
  const isDone = status < 300;
  const created = method === 'POST' ? `POST ${path}/${written?.metadata.name}` : undefined;
  const once = method === 'DELETE' ? `DELETE ${path}` : created;
  return { method, path, isWrite, isDone, ...(isDone && once !== undefined && { once }) };
}

/** Where a manifest is, as `getPathOf` wants it. */
function toResource(manifest: Manifest): { readonly collection: string; readonly path: string } {
  const kind = String(manifest['kind']).toLowerCase();
  const collection = kind.endsWith('s') ? `${kind}es` : `${kind}s`;
  return { collection, path: `${collection}/${readName(manifest)}` };
}

/** Waits until the controllers have seen an object, and made the pods that it wants. */
async function waitForRest(read: () => Promise<JsonObject | undefined>): Promise<void> {
  const check = async (): Promise<void> => {
    if (!isAtRest(await read())) throw new Error('its controller has not seen it yet');
  };
  await vi.waitFor(check, { timeout: 20_000, interval: 20 });
}

function isAtRest(live: JsonObject | undefined): boolean {
  const wanted = getPath(live, 'spec', 'replicas');
  if (wanted === undefined) return true;
  const isSeen = getPath(live, 'status', 'observedGeneration') === getPath(live, 'metadata', 'generation');
  return isSeen && (getPath(live, 'status', 'replicas') ?? 0) === wanted;
}

function omitMadeUp(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(omitMadeUp);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([key]) => !madeUp.has(key));
  return Object.fromEntries(members.map(([key, member]) => [key, omitMadeUp(member)]));
}
