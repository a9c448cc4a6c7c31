import { headsQuerySchema } from '../../shared/agent-protocol/cache-messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { cacheHandler, listHeads } from '../../shared/runtime/http/agent-cache.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';

/** GET /agent/v1/caches/{account}/heads: what is cached of a kind, page by page, or of one object with its facts. */
export const handler = cacheHandler(async function listAgentHeads(call) {
  const { request } = call;
  const [kind, namespace, name, page] = ['kind', 'namespace', 'name', 'page'].map(request.findQuery);
  const query = { kind, namespace, name, page, withGone: request.getFlag('withGone', false) };
  return ok(await listHeads(call, parseWith(headsQuerySchema, query, '')));
});
