import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** GET /artifacts/credentials: the accounts with the artifact types that each can fetch. Their hosts are not asked. */
export const handler = apiHandler(openProviders, async function listArtifactCredentials(_request, services) {
  return ok(services.providers.findArtifactFetcher()?.accounts ?? []);
});
