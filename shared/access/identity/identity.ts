import type { Clock } from '#core/clock.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Identifier } from './identifier.ts';
import { findAccounts, findUser } from './identity-headers.ts';
import { parseIdentitySettings } from './identity-settings.ts';

export type { Identifier, Identity } from './identifier.ts';

/** What an identifier needs. */
export interface IdentifierOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/**
 * The identifier that `busdriver.identity` asks for. It remembers the keys that it fetches, so one is used while the settings are in force.
 * Code that most installations do not use is loaded late.
 *
 * @throws InvalidInputError for unusable settings, which `parseSettings` refuses.
 */
export async function createIdentifier(
  settings: JsonObject,
  options: IdentifierOptions,
): Promise<Identifier> {
  const identity = parseIdentitySettings(settings);
  if (identity.kind === 'signed') {
    const [{ createSignedIdentifier }, { openKeySet }] = await Promise.all([
      import('./signed-identity.ts'),
      import('./key-set.ts'),
    ]);
    const keys = openKeySet(identity.source, options);
    return createSignedIdentifier({ settings: identity, keys, clock: options.clock });
  }
  if (identity.kind === 'mtls') return (await import('./mtls-identity.ts')).createMtlsIdentifier(identity);
  return headerIdentifier;
}

/** Every caller that reaches Busdriver is trusted, as Spinnaker's services trust each other. */
const headerIdentifier: Identifier = {
  async identify(event) {
    return { kind: 'header', user: findUser(event), allowedAccounts: findAccounts(event) };
  },
};
