import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { parseJson } from '../manifest/annotations.ts';

const propertyMarker = 'SPINNAKER_PROPERTY_';
const configMarker = 'SPINNAKER_CONFIG_JSON=';

/** The most properties of a log. They become part of a pipeline's context, which Orca stores as a whole. */
export const propertiesMax = 10_000;

/**
 * The properties in a log: each line with `SPINNAKER_PROPERTY_key=value` gives one, its key in lower case, and each line that begins with
 * `SPINNAKER_CONFIG_JSON=` gives the members of a JSON object. Later ones win.
 *
 * As in Clouddriver, text before the marker stays in the key, an empty value is ignored, and one broken JSON text empties the whole result,
 * so that a pipeline does not continue with half of its values. So do more than `propertiesMax` properties.
 */
export function parseLogProperties(log: string): JsonObject {
  const properties = new Map<string, JsonValue>();
  for (const line of listLines(log)) {
    const found = readLine(line.trim());
    if (found === undefined) return {};
    for (const [key, value] of found) properties.set(key, value);
    if (properties.size > propertiesMax) return {};
  }
  // Not by assignment: a property may be called __proto__.
  return Object.fromEntries(properties);
}

/** Line by line: a log may have millions of empty lines. */
function* listLines(log: string): Generator<string> {
  let start = 0;
  for (let end = log.indexOf('\n'); end >= 0; end = log.indexOf('\n', start)) {
    if (end > start) yield log.slice(start, end);
    start = end + 1;
  }
  yield log.slice(start);
}

/** The properties in a line; undefined for a broken one. */
function readLine(text: string): readonly [string, JsonValue][] | undefined {
  if (text.startsWith(configMarker)) {
    const members = parseJson(text.slice(configMarker.length));
    return isJsonObject(members) ? Object.entries(members) : undefined;
  }
  return text.includes(propertyMarker) ? parseProperty(text) : [];
}

function parseProperty(text: string): [string, JsonValue][] {
  const equals = text.indexOf('=');
  const value = text.slice(equals + 1).trim();
  if (equals < 0 || value === '') return [];
  return [[text.slice(0, equals).replace(propertyMarker, '').toLowerCase(), value]];
}
