import {
  parseCredentialsSettings,
  toCredentialsView,
} from '../../../shared/core/providers/credentials-view.ts';
import { answerIfChanged } from '../../../shared/runtime/http/entity-tag.ts';
import { listExpandedAccounts } from '../../../shared/runtime/http/expanded-accounts.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';
import { openReads } from '../../../shared/runtime/services/views.ts';

/** GET /credentials: every account; with `expand=true` the fields of its provider and its cached namespaces too. Gate polls it. */
export const handler = openHandler(openReads, async function listCredentials(request, services) {
  const { accounts } = services.providers;
  if (request.getFlag('expand', false)) {
    return answerIfChanged(request, ok(await listExpandedAccounts(services, accounts)));
  }
  const options = { ...parseCredentialsSettings(services.settings), expand: false };
  return answerIfChanged(request, ok(accounts.map((account) => toCredentialsView(account, options))));
});
