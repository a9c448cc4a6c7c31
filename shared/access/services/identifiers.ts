import type { JsonObject } from '#core/json.ts';
import type { Services } from '#platform/services/services.ts';
import { createIdentifier, type Identifier, type IdentifierOptions } from '../identity/identity.ts';

/** The identifier, one for each settings object, however often it is opened. @throws what `createIdentifier` throws */
export async function openIdentifier(
  services: Services,
  settings: JsonObject,
  options: IdentifierOptions,
): Promise<Identifier> {
  const known = services.get(createMemory);
  const identifier = known.get(settings) ?? createIdentifier(settings, options);
  known.set(settings, identifier);
  return identifier;
}

/** Identifiers by their settings, forgotten when these are no longer in force. */
function createMemory(): WeakMap<JsonObject, Promise<Identifier>> {
  return new WeakMap();
}
