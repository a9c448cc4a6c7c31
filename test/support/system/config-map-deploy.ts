import type { JsonObject } from '#core/json.ts';

/** A deploy of ConfigMaps under their own names. */
export function toDeploy(
  account: string,
  namespace: string,
  names: readonly string[],
): { readonly deployManifest: JsonObject } {
  const manifests = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, annotations: { 'strategy.spinnaker.io/versioned': 'false' } },
    data: { by: account },
  }));
  return { deployManifest: { account, moniker: { app: 'shop' }, manifests } };
}
