import {
  parseCredentialsSettings,
  toCredentialsView,
} from '../../../shared/core/providers/credentials-view.ts';
import { openReadContext } from '../../../shared/runtime/context/view-context.ts';
import { listExpandedAccounts } from '../../../shared/runtime/http/expanded-accounts.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /credentials: every account; with `expand=true` the fields of its provider and its cached namespaces too. */
export const handler = openHandler(openReadContext, async function listCredentials(request, context) {
  const { accounts } = context.providers;
  if (request.getFlag('expand', false)) return ok(await listExpandedAccounts(context, accounts));
  const options = { ...parseCredentialsSettings(context.settings), expand: false };
  return ok(accounts.map((account) => toCredentialsView(account, options)));
});
