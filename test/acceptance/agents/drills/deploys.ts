import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ProxiedCall } from '#test/support/cluster/api-proxy.ts';
import { requestApi } from '#test/support/cluster/cluster.ts';
import type { System, SystemTask } from '#test/support/system/system.ts';

export interface Deploy {
  /** Start of the names of all its objects, which no other deploy has. */
  readonly name: string;
  readonly namespace: string;
  readonly taskId: string;
  readonly postedAtMs: number;
}

export interface DeployOptions {
  readonly account: string;
  readonly namespace: string;
  readonly name: string;
  /** Its application. Default: the name. */
  readonly app?: string;
  /** Default: five objects, two of which get versions that the last one refers to. */
  readonly manifests?: readonly object[];
}

/** Asks for a deploy as Orca does: again with the same id until there is an answer. */
export async function postDeploy(
  system: Pick<System, 'postOperations'>,
  { account, namespace, name, app = name, manifests = createFive(namespace, name) }: DeployOptions,
): Promise<Deploy> {
  const operations = [{ deployManifest: { account, moniker: { app }, manifests } }];
  const postedAtMs = performance.now();
  for (;;) {
    try {
      const clientRequestId = `${namespace}-${name}`;
      const taskId = await system.postOperations(operations, { clientRequestId });
      return { name, namespace, taskId, postedAtMs };
    } catch {
      await sleep(50);
    }
  }
}

/** Waits for the end of a deploy, while Busdriver may be away. @returns its task, and the milliseconds since it was posted */
export async function awaitDeploy(
  system: Pick<System, 'waitForTask'>,
  { taskId, postedAtMs }: Deploy,
  timeoutMs: number,
): Promise<{ readonly task: SystemTask; readonly tookMs: number }> {
  for (;;) {
    try {
      const task = await system.waitForTask(taskId, { timeoutMs });
      return { task, tookMs: performance.now() - postedAtMs };
    } catch (error) {
      // A connection that was refused, or broke: Busdriver is being started.
      if (!(error instanceof TypeError)) throw error;
      await sleep(50);
    }
  }
}

/** Holds the cluster against deploys of five objects: each object is there, once, as one write made it, and nothing else is. */
export async function expectEachOnce(
  deploys: readonly Deploy[],
  calls: readonly ProxiedCall[],
): Promise<void> {
  const namespaces = [...new Set(deploys.map(({ namespace }) => namespace))];
  for (const namespace of namespaces) {
    const wanted = deploys.filter((each) => each.namespace === namespace);
    expect(await listObjects(namespace)).toEqual(wanted.flatMap(listWanted).toSorted());
    expect(listStates(namespace, calls)).toEqual(new Map(wanted.flatMap(listWanted).map((key) => [key, 1])));
  }
}

function createFive(namespace: string, name: string): object[] {
  const metadata = { name, namespace };
  const plain = { namespace, annotations: { 'strategy.spinnaker.io/versioned': 'false' } };
  const labels = { app: name };
  const envFrom = [{ configMapRef: { name } }, { secretRef: { name } }];
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'main', image: 'registry.test/app:1', envFrom }] },
  };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { name } },
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { name } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...plain, name: `${name}-plain` }, data: { name } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 80 }] } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    },
  ];
}

function listWanted({ name }: Deploy): string[] {
  return [
    `ConfigMap ${name}-plain`,
    `ConfigMap ${name}-v000`,
    `Deployment ${name} of ${name}-v000 ${name}-v000`,
    `Secret ${name}-v000`,
    `Service ${name}`,
  ];
}

interface LiveObject {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } };
}

interface Container {
  readonly envFrom?: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
}

async function listObjects(namespace: string): Promise<string[]> {
  const core = `/api/v1/namespaces/${namespace}`;
  const places = [
    ['ConfigMap', `${core}/configmaps`],
    ['Deployment', `/apis/apps/v1/namespaces/${namespace}/deployments`],
    ['Secret', `${core}/secrets`],
    ['Service', `${core}/services`],
  ] as const;
  const lists = await Promise.all(
    places.map(async ([kind, target]) => {
      const { items } = (await requestApi('GET', target)) as { items: LiveObject[] };
      return items.map((item) => `${kind} ${item.metadata.name}${describeReferences(item)}`);
    }),
  );
  return lists
    .flat()
    .filter((each) => each !== 'ConfigMap kube-root-ca.crt')
    .toSorted();
}

function describeReferences({ spec }: LiveObject): string {
  const [container] = spec?.template?.spec.containers ?? [];
  const names = container?.envFrom?.map(({ configMapRef, secretRef }) => (configMapRef ?? secretRef)?.name);
  return names === undefined ? '' : ` of ${names.join(' ')}`;
}

/** How many different states each object was written to, by what was answered to those who wrote it. */
function listStates(namespace: string, calls: readonly ProxiedCall[]): ReadonlyMap<string, number> {
  const states = new Map<string, Set<string>>();
  for (const { written } of calls) {
    if (written?.metadata.namespace !== namespace) continue;
    const { kind, metadata } = written;
    const references = kind === 'Deployment' ? ` of ${metadata.name}-v000 ${metadata.name}-v000` : '';
    const key = `${kind} ${metadata.name}${references}`;
    // What controllers write into a Deployment changes its resource version, and not its generation.
    const state = `${metadata.uid} ${metadata.generation ?? metadata.resourceVersion}`;
    states.set(key, (states.get(key) ?? new Set()).add(state));
  }
  return new Map([...states].map(([key, each]) => [key, each.size]));
}
