import {
  type AccountBounds,
  checkNamespace,
  describeClosedNamespace,
  isBounded,
  OutOfBoundsError,
} from '../../account/account-bounds.ts';
import type { ApiResource, KubernetesClient } from '../../api/client.ts';
import { isResourceNotServed } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { readCoordinates, readNamespace } from '../../manifest/identity.ts';
import { describeObject, explainFailure } from '../steps/failure.ts';

/** The options of checking the places of manifests. */
export interface PlaceOptions {
  readonly bounds: AccountBounds;
  /** The account's client: see `boundToAccount`. */
  readonly client: KubernetesClient;
  readonly signal: AbortSignal;
}

/**
 * Checks where manifests will really go, with what only the cluster and the kubeconfig know: the scope of custom kinds, and the default
 * namespace. It checks all of them before anything is sent; for an account without bounds it makes no call.
 *
 * @throws FailedOperationError naming the manifest that would go where the account may not.
 */
export async function checkPlaces(manifests: readonly Manifest[], options: PlaceOptions): Promise<void> {
  const { bounds, client, signal } = options;
  if (!isBounded(bounds)) return;
  const unnamed = await client.getDefaultNamespace({ signal });
  const resources = new Map<string, ApiResource | undefined>();
  for (const manifest of manifests) {
    await explainFailure(`Deploying ${describeObject(readCoordinates(manifest))}`, async () => {
      const key = JSON.stringify([manifest.apiVersion, manifest.kind]);
      const resource = resources.has(key) ? resources.get(key) : await findResource(manifest, options);
      resources.set(key, resource);
      if (resource?.namespaced === false) return;
      const namespace = readNamespace(manifest) || unnamed;
      const codes = checkNamespace(bounds, namespace);
      if (codes.length > 0) throw new OutOfBoundsError(describeClosedNamespace(namespace, codes));
    });
  }
}

/** Undefined for a kind that is not served, or not yet. @throws OutOfBoundsError for a kind that the account may not use. */
async function findResource(
  { apiVersion, kind }: Manifest,
  { client, signal }: PlaceOptions,
): Promise<ApiResource | undefined> {
  try {
    return await client.getResource(String(apiVersion), String(kind), { signal });
  } catch (error) {
    if (isResourceNotServed(error)) return undefined;
    throw error;
  }
}
