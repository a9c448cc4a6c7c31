import { NotFoundError } from '../../../shared/core/errors.ts';
import { ok, openHandler } from '../../../shared/runtime/open-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/**
 * What pickers of artifacts ask for; no kind of artifact account that there is can tell, so the list is empty:
 *
 * - GET /artifacts/account/{account}/names
 * - GET /artifacts/account/{account}/versions
 *
 * An account that is not there is 404, and so is one that has no artifacts of the `type` of the query, as in Clouddriver: an empty
 * list would hide the mistake.
 */
export const handler = openHandler(
  openProviderContext,
  async function listArtifactNames(request, { providers }) {
    const account = request.getParameter('account');
    const type = request.findQuery('type') ?? '';
    const accounts = providers.findArtifactFetcher()?.accounts ?? [];
    const named = accounts.filter(({ name }) => name === account);
    if (named.length === 0) {
      throw new NotFoundError(
        `Artifact account '${account}' not found; GET /artifacts/credentials lists the accounts there are`,
      );
    }
    if (type !== '' && !named.some(({ types }) => types.includes(type))) {
      throw new NotFoundError(`Artifact account '${account}' has no artifacts of type '${type}'`);
    }
    return ok([]);
  },
);
