import { cacheHandler, writeChanges } from '#agents/http/agent-cache.ts';
import { batchBytesMax, batchUnpackedBytesMax, changesSchema } from '#agents/protocol/cache-messages.ts';
import { ok } from '#http/api-handler.ts';
import { parseWith } from '#settings/coerce.ts';

/** POST /agent/v1/caches/{account}/changes: writes what became of objects. */
export const handler = cacheHandler(async function writeAgentChanges(call) {
  const bytesMax = { packed: batchBytesMax, unpacked: batchUnpackedBytesMax };
  return ok(await writeChanges(call, parseWith(changesSchema, call.request.parsePackedJson(bytesMax), '')));
});
