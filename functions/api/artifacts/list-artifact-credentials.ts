import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** GET /artifacts/credentials: the accounts with the artifact types that each can fetch. Their hosts are not asked. */
export const handler = openHandler(openProviders, async function listArtifactCredentials(_request, services) {
  return ok(services.providers.findArtifactFetcher()?.accounts ?? []);
});
