import { NotFoundError } from '../../../shared/core/errors.ts';
import { parseArtifact } from '../../../shared/core/providers/artifact.ts';
import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { type ApiResponse, apiHandler } from '../../../shared/runtime/http/api-handler.ts';

/** PUT /artifacts/fetch: the bytes of the artifact in the body. */
export const handler = apiHandler(
  openProviderContext,
  async function fetchArtifact(request, context): Promise<ApiResponse> {
    const artifact = parseArtifact(request.parseJson());
    const fetcher = context.providers.findArtifactFetcher();
    if (fetcher === undefined) throw new NotFoundError('No artifact account is configured');
    const { body } = await fetcher.fetch(artifact, request.signal);
    return { status: 200, body, contentType: 'application/octet-stream' };
  },
);
