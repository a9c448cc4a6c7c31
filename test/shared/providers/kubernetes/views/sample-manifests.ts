import { createHash } from 'node:crypto';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { toMoniker } from '../manifests.ts';

/** What a sample says beside its name. */
export interface SampleParts {
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  /** Name of the owning ReplicaSet or Deployment; default `web`. */
  readonly owner?: string;
}

/** Labels of a pod template as Spinnaker and a Deployment leave them. */
const templateLabels = {
  app: 'web',
  'app.kubernetes.io/managed-by': 'spinnaker',
  'app.kubernetes.io/name': 'shop',
  'pod-template-hash': '6d5f8b9c7',
};
const annotations = toMoniker('deployment web');

/** The uid of the sample of that name. */
export function getUid(name: string): string {
  return `5b1c7a52-9f0e-4f0b-8f4a-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
}

/** A running pod of a ReplicaSet, as the API server shows it, in short. */
export function createPod(
  name: string,
  { labels, owner = 'web', annotations: own }: SampleParts = {},
): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...createMetadata(name, { ...templateLabels, ...labels }),
      annotations: { ...annotations, ...own },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: getUid(owner) }],
    },
    spec: { containers: [{ name: 'web', image: 'registry.test/shop/web:1.4' }] },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'web', ready: true, restartCount: 0, image: 'registry.test/shop/web:1.4' }],
    },
  };
}

/** A ReplicaSet of a Deployment of the name `owner`. */
export function createReplicaSet(
  name: string,
  { labels, owner = 'web', annotations: own }: SampleParts = {},
): Manifest {
  const all = { ...templateLabels, ...labels };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...createMetadata(name, all),
      annotations: { ...annotations, 'deployment.kubernetes.io/revision': '7', ...own },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: owner, uid: getUid(`deployment ${owner}`) },
      ],
    },
    spec: {
      replicas: 2,
      template: {
        metadata: { labels: all },
        spec: { containers: [{ name: 'web', image: 'registry.test/shop/web:1.4' }] },
      },
    },
  };
}

/** The Deployment that the samples of ReplicaSets have for an owner. */
export function createSampleDeployment(name: string, own: { readonly [key: string]: string } = {}): Manifest {
  const metadata = { ...createMetadata(name, {}), uid: getUid(`deployment ${name}`) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, annotations: { ...annotations, ...own } },
  };
}

/** A service. */
export function createSampleService(name: string, selector: { readonly [key: string]: string }): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...createMetadata(name, {}), annotations },
    spec: { selector: { ...selector } },
  };
}

function createMetadata(name: string, labels: { readonly [key: string]: string }) {
  return {
    name,
    namespace: 'store',
    uid: getUid(name),
    resourceVersion: '123456789',
    creationTimestamp: '2026-11-21T09:00:00Z',
    // In the order of their keys, as the API server writes them.
    labels: Object.fromEntries(Object.entries(labels).sort()),
  };
}
