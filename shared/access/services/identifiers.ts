import type { JsonObject } from '#core/json.ts';
import type { Services } from '#platform/services/services.ts';
import { createIdentifier, type Identifier, type IdentifierOptions } from '../identity/identity.ts';

/** What tells who callers are, one for each settings object, however often it is opened. @throws what `createIdentifier` throws */
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

/** Identifiers by their settings, which are forgotten when they are not in force any more. */
function createMemory(): WeakMap<JsonObject, Promise<Identifier>> {
  return new WeakMap();
}
