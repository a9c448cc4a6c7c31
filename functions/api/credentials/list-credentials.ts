import { addCachedNamespaces } from '../../../shared/core/cached-namespaces.ts';
import { parseCredentialsSettings, toCredentialsView } from '../../../shared/core/credentials-view.ts';
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { createViewContext, openReadContext } from '../../../shared/runtime/view-context.ts';

/** GET /credentials: every account; with `expand=true` the fields of its provider and its cached namespaces too. */
export const handler = apiHandler(openReadContext, async function listCredentials(request, context) {
  const { accounts } = context.providers;
  const options = parseCredentialsSettings(context.settings);
  const expand = request.getFlag('expand', false);
  const shown = expand
    ? await addCachedNamespaces(accounts, await createViewContext(context, context.cache))
    : accounts;
  return ok(shown.map((account) => toCredentialsView(account, { ...options, expand })));
});
