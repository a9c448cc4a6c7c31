import { NotFoundError } from '../../../shared/core/errors.ts';
import type { ArtifactAccount } from '../../../shared/core/providers/provider.ts';
import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/**
 * What is known of artifact accounts without asking their hosts:
 *
 * - GET /artifacts/credentials: the accounts with the artifact types that each can fetch
 * - GET /artifacts/account/{account}/names
 * - GET /artifacts/account/{account}/versions
 *
 * The latter two are for pickers of artifacts. No kind of account that there is can tell, so their list is empty; but an account
 * that is not there is 404, and so is one that has no artifacts of the `type` of the query, as in Clouddriver: an empty list would
 * hide the mistake.
 */
export const handler = openHandler(
  openProviderContext,
  async function listArtifactCredentials(request, context) {
    const accounts = context.providers.findArtifactFetcher()?.accounts ?? [];
    const account = request.findParameter('account');
    if (account === undefined) return ok(accounts);
    checkAccount(accounts, { name: account, type: request.findQuery('type') ?? '' });
    return ok([]);
  },
);

/** @throws NotFoundError unless there is an account of that name, with artifacts of that type if one is named. */
function checkAccount(
  accounts: readonly ArtifactAccount[],
  { name, type }: { readonly name: string; readonly type: string },
): void {
  const named = accounts.filter((account) => account.name === name);
  if (named.length === 0) {
    throw new NotFoundError(
      `Artifact account '${name}' not found; GET /artifacts/credentials lists the accounts there are`,
    );
  }
  if (type === '' || named.some(({ types }) => types.includes(type))) return;
  throw new NotFoundError(`Artifact account '${name}' has no artifacts of type '${type}'`);
}
