import type { JsonObject } from '#core/json.ts';
import { findObject, requestApi } from '#test/support/cluster/cluster.ts';

/** Where the API server serves what is not in `/api/v1`. */
const groups: { readonly [plural: string]: string } = {
  deployments: 'apis/apps/v1',
  replicasets: 'apis/apps/v1',
  statefulsets: 'apis/apps/v1',
  daemonsets: 'apis/apps/v1',
  jobs: 'apis/batch/v1',
  cronjobs: 'apis/batch/v1',
  ingresses: 'apis/networking.k8s.io/v1',
  horizontalpodautoscalers: 'apis/autoscaling/v2',
};

/** Where the API server has the definitions of custom kinds. */
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Defines the kind `Tram` in a group of the test's own. */
export async function defineTrams(group: string): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const names = { plural: 'trams', singular: 'tram', kind: 'Tram', listKind: 'TramList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const spec = { group, scope: 'Namespaced', names, versions };
  await requestApi('POST', definitions, { metadata: { name: `trams.${group}` }, spec });
}

/** The path of `configmaps` or `configmaps/a` in a namespace. */
export function getPathOf(namespace: string, resource: string): string {
  const plural = resource.split('/')[0] ?? '';
  return `/${groups[plural] ?? 'api/v1'}/namespaces/${namespace}/${resource}`;
}

/** Creates an object of `configmaps` in a namespace, past the code under test. */
export function createLive(namespace: string, plural: string, object: object): Promise<unknown> {
  return requestApi('POST', getPathOf(namespace, plural), object);
}

/** The live object at `configmaps/a`, or undefined. */
export async function findLive(namespace: string, resource: string): Promise<JsonObject | undefined> {
  return (await findObject(getPathOf(namespace, resource))) as JsonObject | undefined;
}

/** Names of the live `configmaps` that an operation could have made, in order. */
export async function listNames(namespace: string, plural: string): Promise<string[]> {
  const list = (await requestApi('GET', getPathOf(namespace, plural))) as {
    items: { metadata: { name: string } }[];
  };
  const names = list.items.map(({ metadata }) => metadata.name);
  return names.filter((name) => name !== 'kube-root-ca.crt').sort();
}
