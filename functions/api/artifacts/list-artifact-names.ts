import { apiHandler, ok } from '#http/api-handler.ts';
import { artifactAccountNotFound } from '#provider-kit/artifact-account.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/**
 * GET /artifacts/account/{account}/names: the names of the artifacts of an account, for pickers; its host is asked. Accounts of
 * repositories of charts can tell, and Front50 of its pipeline templates; of others the request is refused. An account that is not there is
 * 404, and so is one that has no artifacts of the `type` of the query, as in Clouddriver: an empty list would hide the mistake.
 */
export const handler = apiHandler(openProviders, async function listArtifactNames(request, services) {
  const account = { name: request.getParameter('account'), type: request.findQuery('type') ?? '' };
  const fetcher = services.providers.findArtifactFetcher();
  if (fetcher === undefined) throw artifactAccountNotFound(account);
  return ok(await fetcher.listNames(account, request.signal));
});
