import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { KubernetesClient } from '../../api/client.ts';
import { isResourceNotServed } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked } from '../../api/unchecked.ts';
import type { KindRegistry } from '../../kinds/index.ts';
import { getKindName, toKindKey } from '../../kinds/name.ts';
import { readKind } from '../../manifest/identity.ts';

/** The options of finding scopes. */
export interface ScopeOptions {
  readonly registry: KindRegistry;
  readonly client: KubernetesClient;
  readonly signal: AbortSignal;
}

/** Whether a manifest is namespaced, as far as the known kinds say: unknown kinds are assumed to be. */
export function isNamespacedByTable(manifest: Manifest, registry: KindRegistry): boolean {
  const { known, namespaced } = registry.find(readKind(manifest));
  return !known || namespaced;
}

/** Finds which of the manifests are namespaced. Asks the cluster about unknown kinds. */
export async function readScopes(
  manifests: readonly Manifest[],
  options: ScopeOptions,
): Promise<(manifest: Manifest) => boolean> {
  const { registry } = options;
  const unknown = manifests.filter((manifest) => !registry.find(readKind(manifest)).known);
  const definitions = indexDefinitions(manifests);
  const scopes = new Map<Manifest, boolean>();
  for (const manifest of unknown) scopes.set(manifest, await readScope(manifest, definitions, options));
  return (manifest) => scopes.get(manifest) ?? isNamespacedByTable(manifest, registry);
}

/** A definition in the same request takes precedence: the cluster may have none yet, or an older one. */
async function readScope(
  manifest: Manifest,
  definitions: Definitions,
  { client, signal }: ScopeOptions,
): Promise<boolean> {
  const definition = findDefinition(definitions, manifest);
  if (definition !== undefined)
    return asUnchecked<V1CustomResourceDefinition>(definition).spec?.scope !== 'Cluster';
  try {
    const { apiVersion, kind } = manifest;
    return (await client.getResource(String(apiVersion), String(kind), { signal })).namespaced;
  } catch (error) {
    if (isResourceNotServed(error)) return true;
    throw error;
  }
}

/** CustomResourceDefinitions by the kind that they define, the first one of each. */
export type Definitions = ReadonlyMap<string, Manifest>;

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
