import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts';

const propertyMarker = 'SPINNAKER_PROPERTY_';
const configMarker = 'SPINNAKER_CONFIG_JSON=';

/**
 * The properties in a log: each line with `SPINNAKER_PROPERTY_key=value` gives one, its key in lower case, and each line that
 * begins with `SPINNAKER_CONFIG_JSON=` gives the members of a JSON object. Later ones win.
 *
 * As Clouddriver does: text before the marker stays in the key, an empty value gives nothing, and one broken JSON text makes
 * all of it empty, so that a pipeline does not go on with half of its values.
 */
export function parseLogProperties(log: string): JsonObject {
  const properties: [string, JsonValue][] = [];
  for (const line of log.split('\n')) {
    const text = line.trim();
    if (text.startsWith(configMarker)) {
      const members = parseObject(text.slice(configMarker.length));
      if (members === undefined) return {};
      properties.push(...Object.entries(members));
    } else if (text.includes(propertyMarker)) {
      properties.push(...parseProperty(text));
    }
  }
  // Not by assignment: a property may be called __proto__.
  return Object.fromEntries(properties);
}

function parseProperty(text: string): [string, JsonValue][] {
  const equals = text.indexOf('=');
  const value = text.slice(equals + 1).trim();
  if (equals < 0 || value === '') return [];
  return [[text.slice(0, equals).replace(propertyMarker, '').toLowerCase(), value]];
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
