import { toAgentView } from '../../../shared/core/agents/agent-view.ts';
import { createPriceList } from '../../../shared/core/agents/mode-price.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { openAgentStore } from '../../../shared/runtime/services/agent-store.ts';

/** GET /cache/introspection: what every caching agent is doing, wherever it runs. */
export const handler = apiHandler(openAgentStore, async function listAgents(request, services) {
  const { agents, clock, config } = services;
  const all = await agents.list();
  const nowMs = clock.now();
  const findPrice = config.placement === 'local' ? () => undefined : createPriceList(all, nowMs);
  const mayShow = await request.access.openAccountFilter();
  const shown = all.filter(({ account }) => mayShow(account));
  return ok(shown.map((agent) => toAgentView(agent, nowMs, findPrice(agent))));
});
