import document from '../../../docs/openapi.json' with { type: 'json' };
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openLogContext } from '../../../shared/runtime/log-context.ts';

/** GET /v3/api-docs: what this API is, in OpenAPI 3.1. */
export const handler = apiHandler(openLogContext, async function getApiDocs() {
  return ok(document);
});
