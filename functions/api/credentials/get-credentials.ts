import { parseCredentialsSettings, toCredentialsView } from '../../../shared/core/credentials-view.ts';
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /credentials/{account}: one account, expanded. */
export const handler = apiHandler(openProviderContext, async function getCredentials(request, context) {
  const account = context.providers.getAccount(request.getParameter('account'));
  return ok(toCredentialsView(account, { ...parseCredentialsSettings(context.settings), expand: true }));
});
