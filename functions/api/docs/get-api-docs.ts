import document from '../../../docs/openapi.json' with { type: 'json' };
import { openBaseContext } from '../../../shared/runtime/context/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /v3/api-docs: what this API is, in OpenAPI 3.1. */
export const handler = openHandler(openBaseContext, async function getApiDocs() {
  return ok(document);
});
