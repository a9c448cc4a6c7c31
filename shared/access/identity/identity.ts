import type { Clock } from '#core/clock.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Identifier } from './identifier.ts';
import { findAccounts, findUser } from './identity-headers.ts';
import { parseIdentitySettings } from './identity-settings.ts';

export type { Identifier, Identity } from './identifier.ts';

/** What an identifier works with. */
export interface IdentifierOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/**
 * What tells who callers are, as `busdriver.identity` says. It remembers the keys that it fetches, so one is used for as long as the
 * settings are in force. What most installations do not use is loaded late.
 *
 * @throws InvalidInputError for settings of no use, which `parseSettings` does not let pass.
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

/** Whoever reaches Busdriver is believed, as Spinnaker's services believe each other. */
const headerIdentifier: Identifier = {
  async identify(event) {
    return { kind: 'header', user: findUser(event), allowedAccounts: findAccounts(event) };
  },
};
