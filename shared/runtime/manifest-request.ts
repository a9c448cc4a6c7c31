import type { ManifestRequest } from '../core/provider.ts';
import { type ApiRequest, type ApiResponse, ok } from './api-handler.ts';
import type { ProviderContext } from './provider-context.ts';

/**
 * Answers a live object. What a Secret holds is shown to callers who may write to its account, and recorded.
 *
 * @throws NotFoundError as the reader does; AccessDeniedError where the object's application may not be read.
 */
export async function readManifest(
  request: ApiRequest,
  { providers }: Pick<ProviderContext, 'providers'>,
  { location, name }: Pick<ManifestRequest, 'location' | 'name'>,
): Promise<ApiResponse> {
  const account = request.getParameter('account');
  const revealSecrets = request.access.rights.mayUseAccount(account, 'WRITE');
  const reader = providers.getManifestReader(account);
  if (reader.isSecret(name)) {
    const values = revealSecrets ? 'shown' : 'masked';
    request.audit({ action: 'readSecret', account, location, name, values });
  }
  const includeEvents = request.getFlag('includeEvents', true);
  const manifest = await reader.getManifest({ account, location, name, includeEvents, revealSecrets });
  request.access.checkResult(manifest);
  return ok(manifest);
}
