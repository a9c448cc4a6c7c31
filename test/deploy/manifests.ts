import type { JsonObject } from '#core/json.ts';
import { createJob } from '#test/shared/providers/kubernetes/manifests.ts';
import { kubectl } from '#test/support/cluster/cluster.ts';

/** Operations that deploy manifests. */
export function toDeploy(manifests: readonly JsonObject[], account = 'test'): object[] {
  return [{ deployManifest: { account, moniker: { app: 'deployed' }, source: 'text', manifests } }];
}

/** A Job with a generated name: a second execution would be a second Job. */
export function toJob(namespace: string): JsonObject {
  return createJob({ generateName: 'once-', namespace });
}

/** A ConfigMap, which gets a version: a second execution might be a second version. */
export function toConfigMap(namespace: string, name: string): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { name } };
}

/** A ConfigMap and a Deployment that uses it. */
export function toManifests(namespace: string, name: string): JsonObject[] {
  const containers = [
    { name: 'main', image: 'example.invalid/app:1', envFrom: [{ configMapRef: { name } }] },
  ];
  const template = { metadata: { labels: { app: name } }, spec: { containers } };
  const spec = { replicas: 0, selector: { matchLabels: { app: name } }, template };
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec };
  return [toConfigMap(namespace, name), deployment];
}

/** Names of the objects of a kind, in their order; without what Kubernetes itself puts into each namespace. */
export async function listNames(namespace: string, kind: string): Promise<string[]> {
  const text = await kubectl(['-n', namespace, 'get', kind, '-o', 'json']);
  const { items } = JSON.parse(text) as { items: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
}
