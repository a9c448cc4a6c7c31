import { epochSchema } from '../../shared/agent-protocol/cache-messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { cacheHandler, raiseEpoch } from '../../shared/runtime/http/agent-cache.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';

/** PUT /agent/v1/caches/{account}/epoch: raises the epoch, for the cluster is another one or has gone back in time. */
export const handler = cacheHandler(async function raiseAgentEpoch(call) {
  return ok(await raiseEpoch(call, parseWith(epochSchema, call.request.parseJson(), '')));
});
