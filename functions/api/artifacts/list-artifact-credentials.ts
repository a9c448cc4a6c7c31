import { ok, openHandler } from '../../../shared/runtime/open-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /artifacts/credentials: the artifact accounts with the artifact types that each can fetch. */
export const handler = openHandler(
  openProviderContext,
  async function listArtifactCredentials(_request, context) {
    return ok(context.providers.findArtifactFetcher()?.accounts ?? []);
  },
);
