import { asJsonObject, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { type InvalidContext, refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createManifest, createService } from '../../manifests.ts';
import { type ErrorNames, listBadTargets, noName } from './bad-contexts.ts';
import type { KubernetesPlace } from './spec.ts';

/** A Service and a ReplicaSet of two pods that is meant to be behind it. @param labels of its pods besides `app` */
export function createReplicas(labels: JsonObject): Manifest[] {
  const template = {
    metadata: { labels: { app: 'web', ...labels } },
    spec: { containers: [{ name: 'main', image: 'registry.test/web:1' }] },
  };
  return [
    createService('web', { serves: 'web' }),
    createManifest('apps/v1', 'ReplicaSet', {
      name: 'web',
      annotations: { 'traffic.spinnaker.io/load-balancers': '["service web"]' },
      more: { spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template } },
    }),
  ];
}

/** Labels of the ReplicaSet's template and of its pods, without those that a pod has from its node. */
export async function lookAtLabels({ findLive, listItems }: KubernetesPlace): Promise<JsonValue> {
  const template = getPath(await findLive('replicasets/web'), 'spec', 'template');
  return [template, ...(await listItems('pods'))].map((each) => {
    const labels = Object.entries(asJsonObject(getPath(each, 'metadata', 'labels')) ?? {});
    return Object.fromEntries(labels.filter(([key]) => !key.startsWith('topology.kubernetes.io/')));
  });
}

/** Wrong contexts of an operation on traffic. */
export function listBadTraffic(names: ErrorNames): InvalidContext[] {
  return [
    ...listBadTargets(names),
    refuseBy(names.operation, ': ')(
      { loadBalancers: 'planted' },
      'loadBalancers',
      'expected a list, got a string (not shown)',
    ),
    noName({ loadBalancers: ['web'] }, 'web'),
    {
      change: { loadBalancers: ['ingress web'] },
      error: "'ingress web' is no load balancer: a ingress does not balance load, a service does",
      names: "'ingress web'",
    },
  ];
}
