import { parseCredentialsSettings, toCredentialsView } from '#accounts/credentials-view.ts';
import { listExpandedAccounts } from '#accounts/http/expanded-accounts.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { answerIfChanged } from '#http/entity-tag.ts';
import { openReads } from '#views/services/views.ts';

/** GET /credentials: every account; with `expand=true` the fields of its provider and its cached namespaces too. Gate polls it. */
export const handler = apiHandler(openReads, async function listCredentials(request, services) {
  const { accounts } = services.providers;
  if (request.getFlag('expand', false)) {
    return answerIfChanged(request, ok(await listExpandedAccounts(services, accounts)));
  }
  const options = { ...parseCredentialsSettings(services.settings), expand: false };
  return answerIfChanged(request, ok(accounts.map((account) => toCredentialsView(account, options))));
});
