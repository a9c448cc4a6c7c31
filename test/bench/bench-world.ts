import { setTimeout as sleep } from 'node:timers/promises';
import { fillApplication } from '#test/support/cluster/fill-application.ts';
import { type ClusterAccess, type ClusterClient, openClusterClient } from './cluster-access.ts';

/** Requests at a time while events are made. */
const concurrency = 16;

/** Numbers of Deployments, each with one ReplicaSet, one pod and one event. */
export interface WorldSizes {
  readonly small: number;
  readonly medium: number;
  readonly large: number;
}

export interface BenchApplication {
  readonly name: string;
  readonly deployments: number;
  /** Pods of each. */
  readonly podsEach: number;
  /** One of its Deployments. */
  readonly deployment: string;
}

/** The applications, by their sizes. */
export type BenchWorld = { readonly [size in keyof WorldSizes]: BenchApplication };

export interface WorldOptions {
  readonly cluster: ClusterAccess;
  /** A word of lower-case letters and digits that no run had before. */
  readonly run: string;
  readonly sizes: WorldSizes;
  tell(line: string): void;
}

export function planWorld({ run, sizes }: Pick<WorldOptions, 'run' | 'sizes'>): BenchWorld {
  const plan = (deployments: number) => planApplication({ run, deployments, podsEach: 1 });
  return { small: plan(sizes.small), medium: plan(sizes.medium), large: plan(sizes.large) };
}

export function planApplication(size: {
  readonly run: string;
  readonly deployments: number;
  readonly podsEach: number;
}): BenchApplication {
  const { run, deployments, podsEach } = size;
  const name = `bench${run}x${deployments}`;
  return { name, deployments, podsEach, deployment: `${name}-00000` };
}

export async function makeWorld(options: WorldOptions): Promise<BenchWorld> {
  const { cluster, tell } = options;
  const world = planWorld(options);
  await using client = await openClusterClient(cluster, concurrency);
  for (const application of Object.values(world)) {
    await makeApplication(application, { cluster, client, tell });
    await makeEvents(client, application.name);
  }
  return world;
}

export async function makeApplication(
  { name, deployments, podsEach }: BenchApplication,
  { cluster, client, tell }: Pick<WorldOptions, 'cluster' | 'tell'> & { client: ClusterClient },
): Promise<void> {
  tell(`making ${deployments} Deployments with ${deployments * podsEach} pods`);
  await makeNamespace(client, name);
  const fill = { namespace: name, application: name, deployments, podsEach };
  await fillApplication({ ...cluster, ...fill, report: tell });
}

interface ListedDeployment {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** An event about each Deployment, as a controller writes it. */
async function makeEvents(client: ClusterClient, namespace: string): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const { items } = (await client.call({ method: 'GET', path })) as { items: ListedDeployment[] };
  const waiting = items.values();
  const work = async (): Promise<void> => {
    for (const { metadata } of waiting) {
      const body = toEvent(namespace, metadata);
      await client.call({ method: 'POST', path: `/api/v1/namespaces/${namespace}/events`, body });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

function toEvent(namespace: string, { name, uid }: ListedDeployment['metadata']): object {
  const now = new Date().toISOString().replace(/\.\d+/, '');
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name: `${name}.bench` },
    involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name, uid },
    ...{ type: 'Normal', reason: 'ScalingReplicaSet', message: `Scaled up replica set of ${name} to 1` },
    ...{ count: 1, firstTimestamp: now, lastTimestamp: now, source: { component: 'deployment-controller' } },
  };
}

/** Makes an empty namespace, ready for pods: its default service account is there, whether or not a controller makes one. */
export async function makeNamespace(client: ClusterClient, name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await client.call({ method: 'POST', path: '/api/v1/namespaces', body });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  const path = `/api/v1/namespaces/${name}/serviceaccounts`;
  await client.call({ method: 'POST', path, body: account, accepted: 409 });
}

/** Has a namespace deleted: controllers go on with what is in it. */
export async function deleteNamespace(client: ClusterClient, name: string): Promise<void> {
  await client.call({ method: 'DELETE', path: `/api/v1/namespaces/${name}`, accepted: 404 });
}

/** Waits until controllers have done what they had to do: no Deployment of these namespaces changes for half a second. A minute at most. */
export async function waitUntilQuiet(client: ClusterClient, namespaces: readonly string[]): Promise<void> {
  const deadline = performance.now() + 60_000;
  const readVersions = async (namespace: string): Promise<string> => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const { items } = (await client.call({ method: 'GET', path })) as { items: VersionedObject[] };
    return items.map(({ metadata }) => metadata.resourceVersion).join();
  };
  const read = async (): Promise<string> => (await Promise.all(namespaces.map(readVersions))).join(';');
  let versions = await read();
  for (let before = ''; before !== versions && performance.now() < deadline; ) {
    await sleep(500);
    before = versions;
    versions = await read();
  }
}

interface VersionedObject {
  readonly metadata: { readonly resourceVersion: string };
}

/** Waits until nothing of a deleted namespace is there any more: two minutes at most. */
export async function waitUntilDeleted(client: ClusterClient, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  const deadline = performance.now() + 120_000;
  const isThere = async (): Promise<boolean> =>
    ((await client.call({ method: 'GET', path, accepted: 404 })) as { kind: string }).kind === 'Namespace';
  while (performance.now() < deadline && (await isThere())) await sleep(200);
}
