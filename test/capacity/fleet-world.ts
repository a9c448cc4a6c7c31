import {
  type Answer,
  answerJson,
  answerStatus,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { answerStream, toErrorLine } from '#test/shared/providers/kubernetes/watch/watch-setup.ts';

export interface FleetSize {
  /** Applications; the first one is the largest, the others share what is left. */
  readonly applications: number;
  readonly deployments: number;
  /** Deployments of the first application. */
  readonly largeDeployments: number;
  /** ReplicaSets of each Deployment, named as its controller names them. */
  readonly replicaSetsEach: number;
  /** ReplicaSets without a Deployment, of an application of their own. */
  readonly bareReplicaSets: number;
  /** Pods of the newest ReplicaSets of the Deployments, in turn. */
  readonly pods: number;
}

/** What an API server tells of the objects of a cluster that are made when they are asked for. */
export interface FleetWorld {
  readonly size: FleetSize;
  readonly namespaces: number;
  listApplications(): string[];
  listClusters(application: string): string[];
  /** Changes the newest ReplicaSets of so many Deployments, one after the other. */
  touch(replicaSets: number): void;
  /** Forgets which changes there were: watches have to begin with another list. */
  expire(): void;
  /** Makes of each object what is told of it instead; default: itself. */
  alter: (object: FleetObject) => FleetObject;
  /** Answers a list, a watch, or the look at a namespace. @param path with the query */
  answer(path: string): Answer;
}

export interface FleetObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec?: object;
  readonly status?: object;
}

/** Name of the application without Deployments. */
export const bareApplication = 'bare';

const namespacesMax = 50;

/** A resource version below those of changes, above those of objects. */
const firstVersion = 10_000_000;

type Labels = Readonly<Record<string, string>>;

/** Makes a world. Everything has the names that Kubernetes' controllers give, and no annotation of Spinnaker. */
export function createFleetWorld(size: FleetSize): FleetWorld {
  const changed = new Map<number, number>();
  let now = firstVersion;
  let expiredBefore = 0;
  const lists: Readonly<Record<string, KindList>> = {
    deployments: {
      kind: 'Deployment',
      count: size.deployments,
      make: (index) => makeDeployment(size, index),
    },
    replicasets: {
      kind: 'ReplicaSet',
      count: size.deployments * size.replicaSetsEach + size.bareReplicaSets,
      make: (index) => makeReplicaSet(size, index, changed.get(index)),
    },
    pods: { kind: 'Pod', count: size.pods, make: (index) => makePod(size, index) },
    namespaces: { kind: 'Namespace', count: Math.min(namespacesMax, size.deployments), make: makeNamespace },
  };
  const world: FleetWorld = {
    size,
    namespaces: Math.min(namespacesMax, size.deployments),
    alter: (object) => object,
    listApplications() {
      const names = Array.from({ length: size.applications }, (_, index) => toApplication(index));
      return size.bareReplicaSets > 0 ? [...names, bareApplication] : names;
    },
    listClusters(application) {
      if (application === bareApplication) {
        return Array.from({ length: size.bareReplicaSets }, (_, index) => toBareName(index)).sort();
      }
      const indexes = Array.from({ length: size.deployments }, (_, index) => index);
      const own = indexes.filter((index) => getApplication(size, index) === application);
      return own.map((index) => toDeploymentName(size, index)).sort();
    },
    touch(replicaSets) {
      for (let index = 0; index < replicaSets; index += 1) {
        now += 1;
        changed.set((index % size.deployments) * size.replicaSetsEach, now);
      }
    },
    expire() {
      now += 1;
      expiredBefore = now;
    },
    answer(path) {
      const { pathname, searchParams } = new URL(path, 'http://x');
      if (pathname === '/api/v1/namespaces/kube-system') {
        return answerJson(200, { kind: 'Namespace', metadata: { name: 'kube-system', uid: 'fleet' } });
      }
      const list = lists[pathname.slice(pathname.lastIndexOf('/') + 1)];
      if (list === undefined) return answerStatus(404, 'NotFound');
      const altered = { ...list, make: (index: number) => world.alter(list.make(index)) };
      if (!searchParams.has('watch')) return answerPage(altered, searchParams, now);
      const from = Number(searchParams.get('resourceVersion'));
      if (from < expiredBefore) return answerStream(toErrorLine(410, 'Expired'));
      return answerChanges(altered, { from, changed, now });
    },
  };
  return world;
}

interface KindList {
  readonly kind: string;
  readonly count: number;
  make(index: number): FleetObject;
}

function answerPage({ count, make }: KindList, search: URLSearchParams, now: number): Answer {
  const start = Number(search.get('continue') ?? 0);
  const end = Math.min(count, start + Number(search.get('limit') ?? count));
  const items = Array.from({ length: end - start }, (_, index) => make(start + index));
  const more = end < count && { continue: String(end), remainingItemCount: count - end };
  return answerJson(200, { metadata: { resourceVersion: String(now), ...more }, items });
}

function answerChanges(
  { kind, make }: KindList,
  { from, changed, now }: { from: number; changed: ReadonlyMap<number, number>; now: number },
): Answer {
  const events = [...changed].filter(([, version]) => kind === 'ReplicaSet' && version > from);
  const lines = events
    .sort(([, one], [, other]) => one - other)
    .map(([index]) => ({ type: 'MODIFIED', object: { apiVersion: 'apps/v1', kind, ...make(index) } }));
  const metadata = { resourceVersion: String(now) };
  const bookmark = { type: 'BOOKMARK', object: { apiVersion: 'v1', kind, metadata } };
  return answerStream(...[...lines, bookmark].map((line) => `${JSON.stringify(line)}\n`));
}

function toApplication(index: number): string {
  return `shop${String(index).padStart(5, '0')}`;
}

function getApplication({ largeDeployments, applications }: FleetSize, deployment: number): string {
  if (deployment < largeDeployments || applications === 1) return toApplication(0);
  return toApplication(1 + ((deployment - largeDeployments) % (applications - 1)));
}

function toDeploymentName(size: FleetSize, index: number): string {
  return `${getApplication(size, index)}-service-with-a-long-name-${String(index).padStart(5, '0')}`;
}

function toHash(index: number): string {
  return (index * 2_654_435_761).toString(36).padStart(10, 'b').slice(-10);
}

function toBareName(index: number): string {
  return `${bareApplication}-replicas-with-a-name-of-their-own-${String(index).padStart(5, '0')}`;
}

function toNamespace(index: number): string {
  return `team${index % namespacesMax}`;
}

function toMetadata(
  name: string,
  { index, version, labels }: { index: number; version: number; labels: Labels },
) {
  const uid = `uid-${name}`;
  return { name, namespace: toNamespace(index), uid, resourceVersion: String(version), labels };
}

function makeNamespace(index: number): FleetObject {
  const name = toNamespace(index);
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: String(index + 1) } };
}

function makeDeployment(size: FleetSize, index: number): FleetObject {
  const name = toDeploymentName(size, index);
  const metadata = toMetadata(name, { index, version: 1_000 + index, labels: { app: name } });
  return { metadata, spec: { replicas: 2, template: makeTemplate(name) } };
}

function makeReplicaSet(size: FleetSize, index: number, changedAt: number | undefined): FleetObject {
  const { deployments, replicaSetsEach } = size;
  const deployment = Math.floor(index / replicaSetsEach);
  const version = changedAt ?? 1_000_000 + index;
  if (deployment >= deployments) {
    const name = toBareName(index - deployments * replicaSetsEach);
    const metadata = toMetadata(name, { index, version, labels: { app: name } });
    return { metadata, spec: { replicas: 1, template: makeTemplate(name) } };
  }
  const owner = toDeploymentName(size, deployment);
  const labels = { app: owner, 'pod-template-hash': toHash(index) };
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'Deployment', name: owner, uid: `uid-${owner}`, controller: true },
  ];
  const isNewest = index % replicaSetsEach === 0;
  return {
    metadata: {
      ...toMetadata(toReplicaSetName(size, index), { index: deployment, version, labels }),
      ownerReferences,
    },
    spec: { replicas: isNewest ? 2 : 0, template: makeTemplate(owner) },
  };
}

function toReplicaSetName(size: FleetSize, index: number): string {
  return `${toDeploymentName(size, Math.floor(index / size.replicaSetsEach))}-${toHash(index)}`;
}

function makePod(size: FleetSize, index: number): FleetObject {
  const deployment = index % size.deployments;
  const owner = toReplicaSetName(size, deployment * size.replicaSetsEach);
  const name = `${owner}-${toHash(index).slice(-5)}`;
  const labels = { app: toDeploymentName(size, deployment) };
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: `uid-${owner}`, controller: true },
  ];
  return {
    metadata: {
      ...toMetadata(name, { index: deployment, version: 5_000_000 + index, labels }),
      ownerReferences,
    },
    status: { phase: 'Running', containerStatuses: [{ name: 'main', ready: true }] },
  };
}

function makeTemplate(app: string): object {
  const containers = [{ name: 'main', image: `registry.example.com/${app}:1.2.3` }];
  return { metadata: { labels: { app } }, spec: { containers } };
}
