import { parseCredentialsSettings, toCredentialsView } from '../../../shared/core/credentials-view.ts';
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/**
 * GET /credentials/{account}/authorized: one account, expanded, for who may write to it. Orca asks it before webhooks when
 * `webhook.validateAccount` is on. Without Fiat everybody may.
 */
export const handler = apiHandler(
  openProviderContext,
  async function getAuthorizedCredentials(request, context) {
    const account = context.providers.getAccount(request.getParameter('account'));
    return ok(toCredentialsView(account, { ...parseCredentialsSettings(context.settings), expand: true }));
  },
);
