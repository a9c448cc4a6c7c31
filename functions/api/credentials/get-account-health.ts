import { getHealthView } from '../../../shared/core/providers/account-health-view.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { getAgentHealth } from '../../../shared/runtime/services/agent-health.ts';
import { openHealthStore } from '../../../shared/runtime/services/health-store.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** GET /credentials/{account}/health: whether an account can be reached, and since when. */
export const handler = apiHandler(openProviders, async function getAccountHealth(request, services) {
  const account = services.providers.findAccount(request.getParameter('account'));
  if (account?.agentHome !== undefined) return ok(await getAgentHealth(services.all, account));
  const store = openHealthStore(services.all);
  return ok(
    await getHealthView(request.getParameter('account'), services.providers, {
      find: (account) => store.find(account),
      clock: services.clock,
    }),
  );
});
