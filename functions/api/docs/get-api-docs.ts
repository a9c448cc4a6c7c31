import document from '#docs/openapi.json' with { type: 'json' };
import { ok, okText, openHandler } from '#http/open-handler.ts';
import { unpackText } from '#http/packed-text.ts';
import { openBase } from '#platform/services/base.ts';

/** The same document, packed: `infra/aws/bundling/bundles.ts` puts it into what is deployed, in the place of the other. Elsewhere there is none. */
declare const packedApiDocument: string | undefined;

/** GET /v3/api-docs: what this API is, in OpenAPI 3.1. */
export const handler = openHandler(openBase, async function getApiDocs() {
  return typeof packedApiDocument === 'string' ? okText(unpackText(packedApiDocument)) : ok(document);
});
