import { parseCredentialsSettings, toCredentialsView } from '../../../shared/core/credentials-view.ts';
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /credentials: every account; with `expand=true` the fields of its provider too. */
export const handler = apiHandler(openProviderContext, async function listCredentials(request, context) {
  const options = parseCredentialsSettings(context.settings);
  const expand = request.getFlag('expand', false);
  return ok(context.providers.accounts.map((account) => toCredentialsView(account, { ...options, expand })));
});
