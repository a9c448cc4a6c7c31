import document from '../../../docs/openapi.json' with { type: 'json' };
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openBaseContext } from '../../../shared/runtime/base-context.ts';

/** GET /v3/api-docs: what this API is, in OpenAPI 3.1. */
export const handler = apiHandler(openBaseContext, async function getApiDocs() {
  return ok(document);
});
