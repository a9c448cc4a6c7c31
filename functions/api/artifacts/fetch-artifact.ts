import { NotFoundError } from '../../../shared/core/errors.ts';
import { parseArtifact } from '../../../shared/core/providers/artifact.ts';
import { type ApiResponse, apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** PUT /artifacts/fetch: the bytes of the artifact in the body. */
export const handler = apiHandler(
  openProviders,
  async function fetchArtifact(request, services): Promise<ApiResponse> {
    const artifact = parseArtifact(request.parseJson());
    const fetcher = services.providers.findArtifactFetcher();
    if (fetcher === undefined) throw new NotFoundError('No artifact account is configured');
    const { body } = await fetcher.fetch(artifact, request.signal);
    return { status: 200, body, contentType: 'application/octet-stream' };
  },
);
