import * as z from 'zod';
import type { Answer } from './answer.ts';
import { artifactSchema } from './artifacts.ts';

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

/** A Kubernetes event in an answer. */
export const eventSchema = z
  .object({ metadata: z.looseObject({ name: z.string().min(1) }) })
  .catchall(presentValue)
  .meta({
    description:
      'A Kubernetes event. Every number is written as a double (`2.0`), ' +
      'but for integers beyond 2^53, which a double does not hold.',
    ...doubles,
  });

/** Where an object belongs in Spinnaker's world. */
export const monikerSchema = z
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

/** How an object fares. */
export const manifestStatusSchema = z
  .strictObject({
    stable: conditionSchema,
    paused: conditionSchema,
    available: conditionSchema,
    failed: conditionSchema,
  })
  .describe('How an object fares. A pipeline waits until `stable`, and stops with `failed.message`.');

/** What one container uses. */
export const containerMetricsSchema = z
  .strictObject({
    containerName: z.string(),
    metrics: z.strictObject({ 'CPU(cores)': z.string(), 'MEMORY(bytes)': z.string() }),
  })
  .describe('What one container uses, under the column headers of `kubectl top`.');

/** An object with its status. */
export const manifestSchema = z
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

/** Where an object is. */
export const coordinatesSchema = z
  .strictObject({ kind: z.string().min(1), name: z.string().min(1), namespace: z.string() })
  .describe('Where an object is.');

/** How an object fares. Orca waits until it is stable. */
export type ManifestStatus = Answer<typeof manifestStatusSchema>;

/** What one container uses, under the column headers of `kubectl top`. */
export type ContainerMetricsView = Answer<typeof containerMetricsSchema>;

/** An object with its status, as `GET /manifests/…` shows it. */
type ManifestView = Answer<typeof manifestSchema>;

/** The same before it is written: only `JSON.stringify` can read numbers that are to be written as doubles. */
export type WrittenManifestView = Omit<ManifestView, 'manifest' | 'events'> & {
  readonly manifest: unknown;
  readonly events: readonly unknown[];
};

/** Coordinates of a manifest, as the dynamic routes answer them. */
export type ManifestCoordinates = Answer<typeof coordinatesSchema>;
