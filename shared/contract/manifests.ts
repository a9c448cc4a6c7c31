import * as z from 'zod';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { artifactSchema } from './artifacts.ts';
import { accountParameter, flagParameter, pathParameter } from './parameters.ts';

/** Any JSON value but null: Orca copies the members of a manifest into maps that refuse it. */
const presentValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
]);

/** Says that numbers are written as doubles (`2.0`), which Orca casts them to. JSON Schema has no word for it. */
const doubles = { 'x-numbers': 'double' };

/** A Kubernetes object in an answer. */
export const kubernetesObjectSchema = z
  .object({
    apiVersion: z.string().min(1),
    kind: z.string().min(1),
    metadata: z.looseObject({ name: z.string().min(1) }),
  })
  .catchall(presentValue)
  .meta({
    description:
      'A Kubernetes object as its API server has it. Every number is written as a double (`2.0`), ' +
      'but for integers beyond 2^53, which a double does not hold.',
    ...doubles,
  });

const eventSchema = z
  .object({ metadata: z.looseObject({ name: z.string().min(1) }) })
  .catchall(presentValue)
  .meta({
    description:
      'A Kubernetes event. Every number is written as a double (`2.0`), ' +
      'but for integers beyond 2^53, which a double does not hold.',
    ...doubles,
  });

const monikerSchema = z
  .strictObject({
    app: z.string().optional(),
    cluster: z.string().optional(),
    stack: z.string().optional(),
    detail: z.string().optional(),
    sequence: z.int().min(0).optional().describe('Number of the version.'),
  })
  .describe("Where an object belongs in Spinnaker's world. What is not known is left out.");

const conditionSchema = z
  .strictObject({ state: z.boolean(), message: z.string().optional() })
  .describe('One answer about an object, with the reason where there is one to tell.');

const manifestStatusSchema = z
  .strictObject({
    stable: conditionSchema,
    paused: conditionSchema,
    available: conditionSchema,
    failed: conditionSchema,
  })
  .describe('How an object fares. A pipeline waits until `stable`, and stops with `failed.message`.');

const containerMetricsSchema = z
  .strictObject({
    containerName: z.string(),
    metrics: z.strictObject({ 'CPU(cores)': z.string(), 'MEMORY(bytes)': z.string() }),
  })
  .describe('What one container uses, under the column headers of `kubectl top`.');

const manifestSchema = z
  .strictObject({
    account: z.string().min(1),
    name: z.string().min(1).describe('Full name: kind, one space, name.'),
    location: z.string().describe('Namespace; empty for a cluster-scoped object.'),
    moniker: monikerSchema,
    manifest: kubernetesObjectSchema,
    status: manifestStatusSchema,
    artifacts: z.array(artifactSchema),
    events: z.array(eventSchema).describe('Oldest first.'),
    warnings: z.array(z.unknown()).max(0),
    metrics: z.array(containerMetricsSchema).describe('Of a pod, where the cluster measures it.'),
  })
  .describe('An object with its status.');

const coordinatesSchema = z
  .strictObject({ kind: z.string().min(1), name: z.string().min(1), namespace: z.string() })
  .describe('Where an object is.');

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
  tag: 'manifests',
  isCached: 'whereLiveFails',
  description:
    'Read from the cluster. Only where that does not answer, what the cache knows is shown to Deck (`X-SPINNAKER-USER-ORIGIN: deck`) ' +
    'and to who sends `Cache-Control: stale-if-error=600`, never to requests of an execution (`X-SPINNAKER-EXECUTION-ID`): then headers ' +
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
export const manifestRoutes: ApiRoutes = {
  'GET /manifests/{account}/{location}': {
    ...live,
    operationId: 'getClusterScopedManifest',
    summary: 'A cluster-scoped object',
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
    summary: 'An object with its status and events',
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
    tag: 'manifests',
    summary: 'The objects that a deploy marked as members of a cluster',
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
    tag: 'manifests',
    summary: 'The member of a cluster that is the oldest, newest, largest …',
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
};
