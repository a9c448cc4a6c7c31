import { cacheHandler, pruneApplications } from '#agents/http/agent-cache.ts';
import { prunesSchema } from '#agents/protocol/cache-messages.ts';
import { ok } from '#http/api-handler.ts';
import { parseWith } from '#settings/coerce.ts';

/** POST /agent/v1/caches/{account}/prunes: takes from the directory what applications do not have any more. */
export const handler = cacheHandler(async function pruneAgentApplications(call) {
  return ok(await pruneApplications(call, parseWith(prunesSchema, call.request.parseJson(), '')));
});
