import { XMLParser } from 'fast-xml-parser';
import { FailedOperationError } from '#core/errors.ts';
import { gatherBytes } from '#core/gathered-bytes.ts';
import { asJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/** Largest XML of a host, in bytes: far more than thousands of versions take. */
export const xmlBytesMax = 8 * 2 ** 20;

/** The most tags in it, including end tags: each takes a hundred bytes of memory. */
export const xmlTagsMax = 200_000;

/** The most characters from the beginning of a tag to that of the next. The parser takes thirty bytes of memory for each. */
export const xmlPieceLengthMax = 65_536;

/** The most levels of elements. Maven's metadata have five. */
export const xmlLevelsMax = 32;

/** Entities stay as written, so that none can expand; all values are texts, since 1.10 is not a number. */
const parserOptions = {
  ignoreAttributes: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  attributeNamePrefix: '@',
  maxNestedTags: xmlLevelsMax,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
};

/**
 * Reads a whole XML document: elements as members of objects, several of one name as a list, attributes with an `@` before their names, an
 * element with only text as that text. Entities are not resolved.
 *
 * @throws FailedOperationError if it is larger or deeper than a limit, or not XML.
 */
export async function readXml(body: AsyncIterable<Uint8Array>, host: string): Promise<JsonObject> {
  const bytes = await gatherBytes(body, xmlBytesMax);
  if (bytes === undefined)
    throw new FailedOperationError(`${host} tells more than ${xmlBytesMax} bytes of XML`);
  const text = new TextDecoder().decode(bytes);
  assertAffordable(text, host);
  try {
    return asJsonObject(new XMLParser(parserOptions).parse(text)) ?? {};
  } catch (cause) {
    // The parser's message would quote what the host sent.
    throw new FailedOperationError(`${host} does not answer XML that can be read`, { cause });
  }
}

/** The elements of a name: none, one or many. @param value the member that `readXml` made of them */
export function listElements(value: JsonValue = []): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value];
}

/** @throws FailedOperationError if the parser would need too much memory for it. */
function assertAffordable(text: string, host: string): void {
  const { tags, longest } = measureTags(text);
  if (tags > xmlTagsMax) throw new FailedOperationError(`${host} tells more than ${xmlTagsMax} tags of XML`);
  if (longest > xmlPieceLengthMax) {
    throw new FailedOperationError(
      `${host} tells XML with more than ${xmlPieceLengthMax} characters between two tags`,
    );
  }
}

/** How many tags there are, and the most characters from the beginning of one to that of the next. */
function measureTags(text: string): { readonly tags: number; readonly longest: number } {
  let [tags, longest, from] = [0, 0, 0];
  while (from < text.length) {
    const next = text.indexOf('<', from + 1);
    const to = next === -1 ? text.length : next;
    longest = Math.max(longest, to - from);
    from = to;
    tags += 1;
  }
  return { tags, longest };
}
