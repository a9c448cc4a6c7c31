import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import {
  checkNamespace,
  describeClosedNamespace,
  isBounded,
  OutOfBoundsError,
} from '../../account/account-bounds.ts';
import type { ApiResource, CallOptions, KubernetesClient } from '../../api/client.ts';
import { isResourceNotServed } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked } from '../../api/unchecked.ts';
import type { KindRegistry } from '../../kinds/index.ts';
import { getKindName, toKindKey } from '../../kinds/name.ts';
import { readCoordinates, readKind, readNamespace } from '../../manifest/identity.ts';
import { describeObject, explainFailure } from '../steps/failure.ts';
import type { OperationWork } from '../steps/v2-operation.ts';

/** Where a manifest's kind is served; undefined while its definition, perhaps part of the same deploy, does not exist. */
export async function findResource(
  client: KubernetesClient,
  { apiVersion, kind }: Manifest,
  options: CallOptions,
): Promise<ApiResource | undefined> {
  try {
    return await client.getResource(String(apiVersion), String(kind), options);
  } catch (error) {
    if (isResourceNotServed(error)) return undefined;
    throw error;
  }
}

/**
 * Checks where manifests will really go, with what only the cluster and the kubeconfig know: the scope of custom kinds, and the default
 * namespace. It checks all of them before anything is sent; for an account without bounds it makes no call.
 *
 * @throws FailedOperationError naming the manifest that would go where the account may not.
 */
export async function checkPlaces(
  manifests: readonly Manifest[],
  { account, client, run: { signal } }: OperationWork,
): Promise<void> {
  if (!isBounded(account)) return;
  const unnamed = await client.getDefaultNamespace({ signal });
  const resources = new Map<string, ApiResource | undefined>();
  for (const manifest of manifests) {
    await explainFailure(`Deploying ${describeObject(readCoordinates(manifest))}`, async () => {
      const key = JSON.stringify([manifest.apiVersion, manifest.kind]);
      const known = resources.has(key);
      const resource = known ? resources.get(key) : await findResource(client, manifest, { signal });
      resources.set(key, resource);
      if (resource?.namespaced === false) return;
      const namespace = readNamespace(manifest) || unnamed;
      const codes = checkNamespace(account, namespace);
      if (codes.length > 0) throw new OutOfBoundsError(describeClosedNamespace(namespace, codes));
    });
  }
}

/** Whether a manifest is namespaced, as far as the known kinds say: unknown kinds are assumed to be. */
export function isNamespacedByTable(manifest: Manifest, registry: KindRegistry): boolean {
  const { known, namespaced } = registry.find(readKind(manifest));
  return !known || namespaced;
}

/** Finds which of the manifests are namespaced. Asks the cluster about unknown kinds. */
export async function readScopes(
  manifests: readonly Manifest[],
  { account: { kindRegistry }, client, run: { signal } }: OperationWork,
): Promise<(manifest: Manifest) => boolean> {
  const unknown = manifests.filter((manifest) => !kindRegistry.find(readKind(manifest)).known);
  const definitions = indexDefinitions(manifests);
  const scopes = new Map<Manifest, boolean>();
  for (const manifest of unknown) {
    // A definition in the same request takes precedence: the cluster may have none yet, or an older one.
    const definition = findDefinition(definitions, manifest);
    const isNamespaced =
      definition === undefined
        ? ((await findResource(client, manifest, { signal }))?.namespaced ?? true)
        : asUnchecked<V1CustomResourceDefinition>(definition).spec?.scope !== 'Cluster';
    scopes.set(manifest, isNamespaced);
  }
  return (manifest) => scopes.get(manifest) ?? isNamespacedByTable(manifest, kindRegistry);
}

/** CustomResourceDefinitions by the kind that they define, the first one of each. */
type Definitions = ReadonlyMap<string, Manifest>;

/** The CustomResourceDefinitions among manifests. */
export function indexDefinitions(manifests: readonly Manifest[]): Definitions {
  const definitions = manifests.filter((manifest) => readKind(manifest) === 'customResourceDefinition');
  return new Map(definitions.toReversed().map((definition) => [getDefinedKey(definition), definition]));
}

/** The definition of the manifest's kind. */
export function findDefinition(definitions: Definitions, manifest: Manifest): Manifest | undefined {
  return definitions.get(toKindKey(readKind(manifest)));
}

function getDefinedKey(definition: Manifest): string {
  const { spec } = asUnchecked<V1CustomResourceDefinition>(definition);
  const group = asString(spec?.group) ?? '';
  const kind = asString(spec?.names?.kind) ?? '';
  return toKindKey(getKindName(`${group}/`, kind));
}
