import { createHash, randomUUID } from 'node:crypto';
import type { JsonObject } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';

/** Spinnaker's name of the application. */
export const demoApplication = 'busdriverdemo';

/** Where the sample application goes. */
export interface DemoTarget {
  readonly account: string;
  readonly namespace: string;
}

/** A request for operations with the id by which a repeat is recognised. */
export interface DemoRequest {
  readonly clientRequestId: string;
  readonly operations: readonly JsonObject[];
}

/**
 * The request that deploys the sample application: the context of a Deploy (Manifest) stage, as Orca posts it. The
 * manifests stand in an order in which they could not be applied.
 */
export function makeDeployRequest({ account, namespace }: DemoTarget): DemoRequest {
  return makeRequest([
    {
      deployManifest: {
        type: 'deployManifest',
        name: 'Deploy the demo',
        cloudProvider: 'kubernetes',
        account,
        source: 'text',
        moniker: { app: demoApplication },
        manifests: [makeDeployment(namespace), makeService(namespace), makeConfigMap(namespace)],
        requiredArtifacts: [],
        optionalArtifacts: [],
        enableTraffic: false,
        services: [],
      },
    },
  ]);
}

/**
 * The request that deletes whatever the sample application has in the namespace, all versions of its ConfigMap too: by
 * the label that each deploy puts on its objects, as the Delete (Manifest) stage does it by label.
 */
export function makeDeleteRequest({ account, namespace }: DemoTarget): DemoRequest {
  return makeRequest([
    {
      deleteManifest: {
        type: 'deleteManifest',
        cloudProvider: 'kubernetes',
        account,
        location: namespace,
        kinds: ['service', 'deployment', 'configMap'],
        labelSelectors: {
          selectors: [{ kind: 'EQUALS', key: 'app.kubernetes.io/name', values: [demoApplication] }],
        },
        options: { cascading: true },
      },
    },
  ]);
}

/** Orca derives the id from the stage and its payload, so that its own repeats carry the same one. */
function makeRequest(operations: readonly JsonObject[]): DemoRequest {
  const stage = `${randomUUID()}-${systemClock.now()}-${JSON.stringify(operations)}`;
  return { clientRequestId: createHash('sha256').update(stage).digest('hex'), operations };
}

/** Versioned: it is deployed as `busdriverdemo-page-v000`, and a changed one as `-v001`. */
function makeConfigMap(namespace: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'busdriverdemo-page', namespace },
    data: { 'index.html': '<h1>Deployed by Busdriver</h1>\n' },
  };
}

/** Names the ConfigMap without its version: the deploy puts the versioned name in. */
function makeDeployment(namespace: string): JsonObject {
  const labels = { app: 'busdriverdemo-web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'busdriverdemo-web', namespace },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'nginx:1.29',
              ports: [{ containerPort: 80 }],
              volumeMounts: [{ name: 'page', mountPath: '/usr/share/nginx/html' }],
            },
          ],
          volumes: [{ name: 'page', configMap: { name: 'busdriverdemo-page' } }],
        },
      },
    },
  };
}

function makeService(namespace: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'busdriverdemo-web', namespace },
    spec: { selector: { app: 'busdriverdemo-web' }, ports: [{ port: 80, targetPort: 80 }] },
  };
}
