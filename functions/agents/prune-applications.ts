import { prunesSchema } from '../../shared/agent-protocol/cache-messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { cacheHandler, pruneApplications } from '../../shared/runtime/http/agent-cache.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';

/** POST /agent/v1/caches/{account}/prunes: takes from the directory what applications do not have any more. */
export const handler = cacheHandler(async function pruneAgentApplications(call) {
  return ok(await pruneApplications(call, parseWith(prunesSchema, call.request.parseJson(), '')));
});
