import {
  batchBytesMax,
  batchUnpackedBytesMax,
  changesSchema,
} from '../../shared/agent-protocol/cache-messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { cacheHandler, writeChanges } from '../../shared/runtime/http/agent-cache.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';

/** POST /agent/v1/caches/{account}/changes: writes what became of objects. */
export const handler = cacheHandler(async function writeAgentChanges(call) {
  const bytesMax = { packed: batchBytesMax, unpacked: batchUnpackedBytesMax };
  return ok(await writeChanges(call, parseWith(changesSchema, call.request.parsePackedJson(bytesMax), '')));
});
