import { Readable } from 'node:stream';
import { InvalidInputError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { OpenedSources } from './download/source.ts';

const types = ['embedded/base64', 'remote/base64'];

/**
 * The built-in account `embedded-artifact`: artifacts whose reference holds their content. It handles every `embedded/…` and `remote/…`
 * type, and can read those in base64.
 */
export function openEmbeddedSources(): OpenedSources {
  return {
    sources: [
      {
        name: 'embedded-artifact',
        type: 'artifacts-embedded',
        types,
        handles: (type) => /^(embedded|remote)\//.test(type),
        fetch: async (artifact) => ({ body: Readable.from([decodeReference(artifact)]) }),
        [Symbol.asyncDispose]: async () => {},
      },
    ],
    rejectedAccounts: [],
  };
}

function decodeReference({ type = '', reference }: Artifact): Uint8Array {
  if (!types.includes(type)) {
    throw new InvalidInputError(`Embedded type '${type}' is not handled: expected ${types.join(' or ')}`);
  }
  if (reference === undefined || !isBase64(reference)) {
    throw new InvalidInputError(`The reference of an artifact of type ${type} must be base 64`);
  }
  return Buffer.from(reference, 'base64');
}

/** Whether Java accepts the text as base64: one alphabet, no line breaks, padding complete or omitted. */
function isBase64(text: string): boolean {
  // No groups: on megabytes of text they exhaust the matcher's stack.
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return false;
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}
