import { toCachingAgentView } from '#caching/scheduling/caching-agent-view.ts';
import { createPriceList } from '#caching/scheduling/mode-price.ts';
import { openCachingAgentStore } from '#caching/services/caching-agent-store.ts';
import { apiHandler, ok } from '#http/api-handler.ts';

/** GET /cache/introspection: what every caching agent is doing, wherever it runs. */
export const handler = apiHandler(openCachingAgentStore, async function listAgents(request, services) {
  const { agents, clock, config } = services;
  const all = await agents.list();
  const nowMs = clock.now();
  const findPrice = config.placement === 'local' ? () => undefined : createPriceList(all, nowMs);
  const mayShow = await request.access.openAccountFilter();
  const shown = all.filter(({ account }) => mayShow(account));
  return ok(shown.map((agent) => toCachingAgentView(agent, nowMs, findPrice(agent))));
});
