import { toAgentView } from '../../../shared/core/agents/agent-view.ts';
import { openAgentStoreContext } from '../../../shared/runtime/context/agent-store-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/** GET /cache/introspection: what every caching agent is doing, wherever it runs. */
export const handler = apiHandler(
  openAgentStoreContext,
  async function listAgents(request, { agents, clock }) {
    const all = await agents.list();
    const shown = all.filter(({ account }) => request.access.rights.mayUseAccount(account, 'READ'));
    return ok(shown.map((agent) => toAgentView(agent, clock.now())));
  },
);
