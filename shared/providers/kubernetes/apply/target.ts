import type { Clock } from '#core/clock.ts';
import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, asString, getPath } from '#core/json.ts';
import type { CallOptions, KubernetesClient, ObjectRef } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import type { SubmissionState } from './write-trace.ts';

/** How a manifest is written to a cluster. */
export interface WriteManifestOptions extends CallOptions {
  /** Namespace of namespaced objects whose manifest names none. Default `default`. */
  readonly namespace?: string | undefined;
}

/** The options of a write that is retried if another client was faster. */
export interface RetriedWriteOptions extends WriteManifestOptions {
  /** Pauses between the tries. */
  readonly clock: Pick<Clock, 'sleep'>;
}

/** How to apply a manifest. */
export interface ApplyOptions extends RetriedWriteOptions, SubmissionState {
  /**
   * False, the default: compute the changes here, from the last applied manifest, the live object and the new manifest. True: let the API
   * server merge by field ownership. `force-conflicts`: also take over fields that others own.
   */
  readonly serverSide?: boolean | 'force-conflicts' | undefined;
  /** Client-side only: returns the live object for the first try if it was read ahead. Default: a call. */
  readonly firstLook?: (() => Promise<Manifest | undefined>) | undefined;
}

/** A manifest to be sent to the API server. */
export interface WriteTarget {
  /** Its name is empty if the manifest has only a `generateName`. */
  readonly ref: ObjectRef;
  /** With its target namespace; without any for cluster-scoped kinds. */
  readonly manifest: Manifest;
}

/**
 * Finds out where a manifest belongs.
 *
 * @throws {InvalidInputError} if the manifest lacks its apiVersion or kind
 * @throws {KubernetesApiError} (404) if the cluster does not serve the kind
 */
export async function resolveTarget(
  client: KubernetesClient,
  manifest: Manifest,
  options: WriteManifestOptions,
): Promise<WriteTarget> {
  const resource = await client.getResource(parseText(manifest, 'apiVersion'), parseText(manifest, 'kind'), {
    signal: options.signal,
  });
  const { namespace: given, ...metadata } = asJsonObject(manifest.metadata) ?? {};
  const namespace = resource.namespaced ? asString(given) || options.namespace || 'default' : undefined;
  return {
    ref: { resource, namespace, name: asString(metadata.name) ?? '' },
    manifest: { ...manifest, metadata: namespace === undefined ? metadata : { ...metadata, namespace } },
  };
}

/**
 * The manifest without the resourceVersion of the object that it was read from, for a create: the API server refuses to create an object
 * with one.
 */
export function withoutResourceVersion(manifest: Manifest): Manifest {
  const { resourceVersion: _, ...metadata } = asJsonObject(manifest.metadata) ?? {};
  return { ...manifest, metadata };
}

function parseText(manifest: Manifest, key: string): string {
  const text = asString(getPath(manifest, key));
  if (text) return text;
  throw new InvalidInputError(`${key}: the manifest must have one`);
}
