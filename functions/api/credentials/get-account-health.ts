import { getHealthView } from '#accounts/account-health-view.ts';
import { findJoinedHealth } from '#accounts/model/regional-health.ts';
import { openHealthStore } from '#accounts/services/health-store.ts';
import { getAgentHealth } from '#agents/services/agent-health.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** GET /credentials/{account}/health: whether an account can be reached, and since when. */
export const handler = apiHandler(openProviders, async function getAccountHealth(request, services) {
  const account = services.providers.findAccount(request.getParameter('account'));
  if (account?.agentHome !== undefined) return ok(await getAgentHealth(services.all, account));
  const store = openHealthStore(services.all);
  return ok(
    await getHealthView(request.getParameter('account'), services.providers, {
      find: (account) => findJoinedHealth(store, account),
      clock: services.clock,
    }),
  );
});
