import { cacheHandler, listHeads } from '#agents/http/agent-cache.ts';
import { headsQuerySchema } from '#agents/protocol/cache-messages.ts';
import { ok } from '#http/api-handler.ts';
import { parseWith } from '#settings/coerce.ts';

/** GET /agent/v1/caches/{account}/heads: what is cached of a kind, page by page, or of one object with its facts. */
export const handler = cacheHandler(async function listAgentHeads(call) {
  const { request } = call;
  const [kind, namespace, name, page] = ['kind', 'namespace', 'name', 'page'].map(request.findQuery);
  const query = { kind, namespace, name, page, withGone: request.getFlag('withGone', false) };
  return ok(await listHeads(call, parseWith(headsQuerySchema, query, '')));
});
