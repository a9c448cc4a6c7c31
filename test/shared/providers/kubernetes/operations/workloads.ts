import { expect } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import { requestApi } from '#test/support/cluster/cluster.ts';
import { createLive, findLive, getPathOf } from '../live.ts';
import { createWorkload } from '../manifests.ts';

/** The kinds of workloads whose pods a controller rolls out, by Spinnaker's name. */
export const workloadKinds = {
  deployment: { kind: 'Deployment', plural: 'deployments' },
  statefulSet: { kind: 'StatefulSet', plural: 'statefulsets' },
  daemonSet: { kind: 'DaemonSet', plural: 'daemonsets' },
  replicaSet: { kind: 'ReplicaSet', plural: 'replicasets' },
} as const;

/** Spinnaker's name of a kind of workload. */
export type WorkloadKind = keyof typeof workloadKinds;

/** A live workload named `web` that runs no pods, once its controller has seen it. */
export interface LiveWorkload {
  /** Account, full name and location, as descriptions name the workload. */
  readonly description: JsonObject;
  /** `deployment web in namespace x`. */
  readonly what: string;
  read(): Promise<JsonObject>;
  /** Somebody else changes it by a JSON merge patch. */
  change(body: JsonObject): Promise<void>;
  /** Somebody else gives its pods another image, which makes a revision. */
  changeImage(image: string): Promise<void>;
  readImage(): Promise<unknown>;
}

/** Makes a workload. @param spec more members of its spec */
export async function makeWorkload(
  namespace: string,
  name: WorkloadKind,
  spec: JsonObject = {},
): Promise<LiveWorkload> {
  const { kind, plural } = workloadKinds[name];
  const isEverywhere = name === 'daemonSet';
  const manifest = createWorkload(kind, 'web', {
    ...(isEverywhere ? { more: { nodeSelector: { nowhere: 'to-be-found' } } } : { replicas: 0 }),
  });
  await createLive(namespace, plural, {
    ...manifest,
    spec: { ...(manifest.spec as JsonObject), ...spec },
  });
  const path = getPathOf(namespace, `${plural}/web`);
  const read = async () => (await findLive(namespace, `${plural}/web`)) ?? {};
  const change = async (body: JsonObject) => {
    await requestApi('PATCH', path, body);
    await waitUntilSeen(read);
  };
  await waitUntilSeen(read);
  return {
    description: { account: 'test', manifestName: `${name} web`, location: namespace },
    what: `${name} web in namespace ${namespace}`,
    read,
    change,
    changeImage: (image) =>
      change({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } }),
    readImage: async () => readImageOf(await read()),
  };
}

function readImageOf(workload: JsonObject): unknown {
  const containers = getPath(workload, 'spec', 'template', 'spec', 'containers');
  return Array.isArray(containers) ? getPath(containers[0], 'image') : undefined;
}

async function waitUntilSeen(read: () => Promise<JsonObject>): Promise<void> {
  const isSeen = async () => {
    const live = await read();
    return getPath(live, 'status', 'observedGeneration') === getPath(live, 'metadata', 'generation');
  };
  await expect.poll(isSeen, { timeout: 20_000, interval: 20 }).toBe(true);
}
