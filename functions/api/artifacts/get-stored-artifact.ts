import { toStoredReference } from '#artifact-store/artifact-store.ts';
import { type ApiResponse, apiHandler } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/**
 * GET /artifacts/content-address/{application}/{hash}: what stands in the artifact store, in base 64, as Deck and Orca ask for it. Who may
 * read the application may read it.
 */
export const handler = apiHandler(
  openProviders,
  async function getStoredArtifact(request, services): Promise<ApiResponse> {
    const reference = toStoredReference(
      { application: request.getParameter('application'), hash: request.getParameter('hash') },
      'path',
    );
    const { openArtifactStore } = await import('#artifact-store/services/artifact-store.ts');
    const body = await openArtifactStore(services.all, services.settings).open(reference, request.signal);
    return { status: 200, body: toView(body), contentType: 'application/json;charset=UTF-8' };
  },
);

/** `{"reference":"<base64>"}`, written while it is read. */
async function* toView(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from('{"reference":"');
  let rest = Buffer.alloc(0);
  for await (const piece of body) {
    const bytes = Buffer.concat([rest, piece]);
    // Three bytes are four characters: what is left over goes with the next piece.
    const whole = bytes.length - (bytes.length % 3);
    yield Buffer.from(bytes.toString('base64', 0, whole));
    rest = bytes.subarray(whole);
  }
  yield Buffer.from(`${rest.toString('base64')}"}`);
}
