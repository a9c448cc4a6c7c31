import { denyApplication } from '#access/authorization.ts';
import { parseStoredReference, storedScheme } from '#artifact-store/artifact-store.ts';
import { NotFoundError } from '#core/errors.ts';
import { type ApiRequest, type ApiResponse, apiHandler } from '#http/api-handler.ts';
import { type Artifact, parseArtifact } from '#provider-kit/artifact.ts';
import { isMeant } from '#provider-kit/artifact-account.ts';
import type { ArtifactFetcher } from '#provider-kit/provider.ts';
import { openProviders, type ProviderServices } from '#provider-kit/services/providers.ts';

/** The type of an artifact whose content Orca has put into the artifact store. */
const storedType = 'remote/base64';

/**
 * PUT /artifacts/fetch: the bytes of the artifact in the body. What its reference says to stand in the artifact store is read there, for who
 * may read the application.
 */
export const handler = apiHandler(
  openProviders,
  async function fetchArtifact(request, services): Promise<ApiResponse> {
    const artifact = parseArtifact(request.parseJson());
    const fetcher = services.providers.findArtifactFetcher();
    if (fetcher === undefined) throw new NotFoundError('No artifact account is configured');
    const body = isStored(artifact, fetcher)
      ? await readStored(artifact.reference ?? '', request, services)
      : (await fetcher.fetch(artifact, request.signal)).body;
    return { status: 200, body, contentType: 'application/octet-stream' };
  },
);

/** Whether the content stands in the store. That of an account which is not there is told as of any other artifact. */
function isStored({ type, artifactAccount, reference }: Artifact, { accounts }: ArtifactFetcher): boolean {
  if (type !== storedType || !artifactAccount || !reference?.startsWith(storedScheme)) return false;
  return accounts.some((account) => isMeant(account, { name: artifactAccount, type: storedType }));
}

/** @throws AccessDeniedError unless the caller may read the application of the reference; UnavailableError when nobody can tell. */
async function readStored(
  text: string,
  { access, signal }: ApiRequest,
  { all, settings }: ProviderServices,
): Promise<AsyncIterable<Uint8Array>> {
  const reference = parseStoredReference(text, 'reference');
  const { application } = reference;
  const rights = await access.loadRights();
  if (!rights.mayUseApplication(application, 'READ')) throw denyApplication(application, 'READ');
  const { openArtifactStore } = await import('#artifact-store/services/artifact-store.ts');
  return openArtifactStore(all, settings).open(reference, signal);
}
