import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import type { ManifestRequest } from '#provider-kit/live-reads.ts';
import type { ProviderServices } from '#provider-kit/services/providers.ts';
import { readLiveOrCached } from './cached-manifest.ts';
import { getManifestReader } from './live-readers.ts';

/**
 * Returns a live object, or else a cached one if the caller accepts it. Callers with WRITE see a Secret's values, and that is recorded.
 *
 * @throws NotFoundError as the reader does; AccessDeniedError where the caller may not read the object's application.
 */
export async function readManifest(
  request: ApiRequest,
  services: Pick<ProviderServices, 'all' | 'providers' | 'clock' | 'log'>,
  { location, name }: Pick<ManifestRequest, 'location' | 'name'>,
): Promise<ApiResponse> {
  const account = request.getParameter('account');
  const revealSecrets = request.access.rights.mayUseAccount(account, 'WRITE');
  const reader = await getManifestReader(services, account);
  if (reader.isSecret(name)) {
    const values = revealSecrets ? 'shown' : 'masked';
    request.audit({ action: 'readSecret', account, location, name, values });
  }
  const includeEvents = request.getFlag('includeEvents', true);
  const wanted = { account, location, name, includeEvents, revealSecrets };
  const { manifest, headers } = await readLiveOrCached(request, wanted, {
    reader,
    services,
    openCache: async () => (await import('#caching/services/cache.ts')).openCache(services.all, 'request'),
  });
  request.access.checkResult(manifest);
  return { ...ok(manifest), headers };
}
