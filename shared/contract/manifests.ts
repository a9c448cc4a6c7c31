import * as z from 'zod';
import {
  containerMetricsSchema,
  coordinatesSchema,
  eventSchema,
  kubernetesObjectSchema,
  manifestSchema,
  manifestStatusSchema,
  monikerSchema,
} from './answers/manifests.ts';
import { type ApiRoute, type ApiRoutes, groupRoutes } from './api-route.ts';
import { accountParameter, flagParameter, pathParameter } from './parameters.ts';

/** Named schemas of the manifest routes. */
export const manifestSchemas = {
  ContainerMetrics: containerMetricsSchema,
  KubernetesEvent: eventSchema,
  KubernetesObject: kubernetesObjectSchema,
  Manifest: manifestSchema,
  ManifestCoordinates: coordinatesSchema,
  ManifestStatus: manifestStatusSchema,
  Moniker: monikerSchema,
};

const includeEvents = flagParameter(
  'includeEvents',
  "With the object's events, and a pod's metrics. Default: true.",
  false,
);

const locationParameter = pathParameter('location', {
  description: 'Namespace; `_` for a cluster-scoped object.',
  example: 'web',
});

const live = {
  isCached: 'whereLiveFails',
  description:
    'Read from the cluster. Only where that does not answer, what the cache knows is shown to Deck (`X-SPINNAKER-USER-ORIGIN: deck`) ' +
    'and to callers that send `Cache-Control: stale-if-error=600`, never to requests of an execution (`X-SPINNAKER-EXECUTION-ID`): then headers ' +
    'tell its age, and the first event is a Warning.',
  answer: {
    description: 'The object.',
    schema: manifestSchema,
    examples: {
      deployment: {
        summary: 'A Deployment that is stable',
        value: {
          account: 'prod',
          name: 'deployment frontend',
          location: 'web',
          moniker: { app: 'shop', cluster: 'deployment frontend' },
          manifest: {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            metadata: { name: 'frontend', namespace: 'web', labels: { app: 'frontend' } },
            spec: { selector: { matchLabels: { app: 'frontend' } } },
            status: { conditions: [{ type: 'Available', status: 'True' }] },
          },
          status: {
            stable: { state: true },
            paused: { state: false },
            available: { state: true },
            failed: { state: false },
          },
          artifacts: [
            {
              type: 'docker/image',
              customKind: false,
              name: 'example/frontend',
              version: '1.2',
              metadata: {},
            },
          ],
          events: [],
          warnings: [],
          metrics: [],
        },
      },
    },
  },
  errors: [404],
} as const satisfies Partial<ApiRoute>;

const clusterParameters = [
  accountParameter,
  pathParameter('location', { description: 'Namespace.', example: 'web' }),
  pathParameter('name', { description: 'Kind.', example: 'replicaSet' }),
  pathParameter('application', { description: 'Application.', example: 'shop' }),
  pathParameter('cluster', { description: "Spinnaker's cluster.", example: 'replicaSet frontend' }),
];

const criteria = z.enum(['oldest', 'newest', 'second_newest', 'largest', 'smallest']);

const coordinatesExample = { kind: 'replicaSet', name: 'frontend-v001', namespace: 'web' };

/** Routes of live manifests. */
export const manifestRoutes: ApiRoutes = groupRoutes('manifests', {
  'GET /manifests/{account}/{location}': {
    ...live,
    operationId: 'getClusterScopedManifest',
    summary: 'A live cluster-scoped object; its full name stands in `{location}`',
    parameters: [
      accountParameter,
      pathParameter('location', {
        description: "The object's full name: kind, one space, name. It is no location here.",
        example: 'namespace web',
      }),
      includeEvents,
    ],
  },
  'GET /manifests/{account}/{location}/{name}': {
    ...live,
    operationId: 'getManifest',
    summary: 'A live object with its status and events; location `_` for a cluster-scoped one',
    parameters: [
      accountParameter,
      locationParameter,
      pathParameter('name', {
        description: 'Full name: kind, one space, name.',
        example: 'deployment frontend',
      }),
      includeEvents,
    ],
  },
  'GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}': {
    operationId: 'listClusterManifests',
    summary: 'The live objects that a deploy marked as members of a cluster; `{name}` is their kind',
    parameters: clusterParameters,
    answer: {
      description: 'Where they are.',
      schema: z.array(coordinatesSchema),
      examples: {
        members: { summary: 'One member', value: [coordinatesExample] },
        none: { summary: 'No member', value: [] },
      },
    },
    errors: [404],
  },
  'GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}/dynamic/{criteria}': {
    operationId: 'getDynamicManifest',
    summary:
      'The member of a cluster that is the `oldest`, `newest`, `second_newest`, `largest` or `smallest`',
    parameters: [
      ...clusterParameters,
      pathParameter('criteria', {
        description: 'Which member.',
        schema: criteria,
        example: 'newest',
      }),
    ],
    answer: {
      description: 'Where it is.',
      schema: coordinatesSchema,
      examples: { member: { summary: 'A ReplicaSet', value: coordinatesExample } },
    },
    errors: [404],
  },
});
