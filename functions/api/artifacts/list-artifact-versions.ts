import { apiHandler, ok } from '#http/api-handler.ts';
import { artifactAccountNotFound } from '#provider-kit/artifact-account.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/**
 * GET /artifacts/account/{account}/versions: the versions of the artifact of the query's `artifactName`, for pickers; the account's host is
 * asked. Accounts that cannot tell and accounts that are not there are as in the names of artifacts.
 */
export const handler = apiHandler(openProviders, async function listArtifactVersions(request, services) {
  const account = { name: request.getParameter('account'), type: request.findQuery('type') ?? '' };
  const fetcher = services.providers.findArtifactFetcher();
  if (fetcher === undefined) throw artifactAccountNotFound(account);
  const artifactName = request.findQuery('artifactName') ?? '';
  return ok(await fetcher.listVersions(account, artifactName, request.signal));
});
