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

/** What the look at the places of manifests works with. */
export interface PlaceOptions {
  readonly bounds: AccountBounds;
  /** That of the account: see `boundToAccount`. */
  readonly client: KubernetesClient;
  readonly signal: AbortSignal;
}

/**
 * Looks where manifests will really go, when it is known what only the cluster and the kubeconfig tell: the scope of custom kinds,
 * and the namespace of what names none. Done for all of them before anything is sent; for an account without bounds nothing is asked.
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

/** Undefined for a kind that is not served, perhaps not yet. @throws OutOfBoundsError for one that is closed to the account. */
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
