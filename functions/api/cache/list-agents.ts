import { toAgentView } from '../../../shared/core/cache/agent-view.ts';
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openCacheContext } from '../../../shared/runtime/cache-context.ts';

/** GET /cache/introspection: what every caching agent is doing, wherever it runs. */
export const handler = apiHandler(openCacheContext, async function listAgents(_request, { agents, clock }) {
  const all = await agents.list();
  return ok(all.map((agent) => toAgentView(agent, clock.now())));
});
