import type { ManifestRequest } from '#provider-kit/live-reads.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';

const sets = new WeakMap<Provider, ProviderSet>();

/** The cloud providers of a plug-in as one, the same each time. */
export function toSet(provider: Provider): ProviderSet {
  const set = sets.get(provider) ?? new ProviderSet([provider]);
  sets.set(provider, set);
  return set;
}

/** A live manifest of one of a plug-in's accounts. */
export async function readManifest(provider: Provider, request: ManifestRequest): Promise<object> {
  return (await toSet(provider).getLiveReader(request.account, 'manifests')).getManifest(request);
}
