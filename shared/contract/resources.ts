import { pathParameter } from './parameters.ts';

/** An example of what every view of an object shows. */
export function makeResourceExample(kind: string, name: string, apiVersion = 'apps/v1') {
  return {
    account: 'prod',
    name: `${kind} ${name}`,
    displayName: name,
    namespace: 'web',
    region: 'web',
    kind,
    apiVersion,
    labels: { app: 'frontend' },
    moniker: { app: 'shop', cluster: `${kind} ${name}` },
    createdTime: 1795242935000,
  };
}

const podExample = { id: '3f0c7a52-7d0e-4b0e-8a53-0c7de0fd1f3c', name: 'pod frontend-v003-x7k2p' };
const podHealth = [
  { state: 'Up', source: 'Pod', type: 'kubernetes/pod', platform: 'platform' },
  { state: 'Up', source: 'Container main', type: 'kubernetes/container', platform: 'platform' },
] as const;

/** An example of a pod. */
export const instanceExample = {
  name: podExample.id,
  humanReadableName: podExample.name,
  displayName: 'frontend-v003-x7k2p',
  account: 'prod',
  namespace: 'web',
  zone: 'web',
  kind: 'pod',
  apiVersion: 'v1',
  labels: { app: 'frontend' },
  moniker: { app: 'shop', cluster: 'replicaSet frontend', sequence: 3 },
  createdTime: 1795242935000,
  cloudProvider: 'kubernetes',
  providerType: 'kubernetes',
  healthState: 'Up',
  health: [...podHealth],
};

/** An example of a load balancer. */
export const loadBalancerExample = {
  ...makeResourceExample('service', 'frontend', 'v1'),
  cloudProvider: 'kubernetes',
  type: 'kubernetes',
  serverGroups: [
    {
      name: 'replicaSet frontend-v003',
      account: 'prod',
      region: 'web',
      cloudProvider: 'kubernetes',
      isDisabled: false,
      detachedInstances: [],
      instances: [{ ...podExample, zone: 'web', health: podHealth[1] }],
    },
  ],
};

/** The application of a path. */
export const applicationParameter = pathParameter('application', {
  description: 'Application.',
  example: 'shop',
});

/** The namespace of a path that calls it a region. */
export const regionParameter = pathParameter('region', { description: 'Namespace.', example: 'web' });
