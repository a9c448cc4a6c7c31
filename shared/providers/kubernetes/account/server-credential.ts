import type { JsonObject } from '#core/json.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import type { CredentialSource } from '../credentials/credentials.ts';
import type { AccountConnection } from './account-connection.ts';
import { parseAccountFields } from './account-fields.ts';
import { toServerAddress } from './account-server.ts';
import { TokenBrokers } from './token-brokers.ts';

/** The parts of an account that say which server it uses, and how. */
type ServedAccount = Pick<AccountConnection, 'server' | 'insecure' | 'isConfined'>;

/**
 * The source of credentials for an account's API server: its own token, or the token broker that it names. The broker is opened on first
 * use. Undefined if the account has no server.
 *
 * @throws InvalidInputError by the source, for an account made by an API whose host the settings do not allow
 */
export function createServerCredential(
  { server, insecure, isConfined }: ServedAccount,
  brokers: TokenBrokers,
  { settings, clock, environment = {} }: Pick<ProviderContext, 'settings' | 'clock' | 'environment'>,
): CredentialSource | undefined {
  if (server === undefined) return undefined;
  const { bearerToken, tokenBroker, tokenProvider } = server;
  if (bearerToken !== undefined) return async () => ({ authorization: `Bearer ${bearerToken}` });
  let source: CredentialSource | undefined;
  return async (request) => {
    if (source === undefined) {
      const broker = brokers.get(tokenBroker);
      // Loaded late: most accounts have a kubeconfig.
      const { createBrokerSource } = await import('../credentials/broker-credential.ts');
      if (isConfined) (await import('./broker-hosts.ts')).checkBrokerHost({ server, insecure }, settings);
      source ??= createBrokerSource(broker, tokenProvider, { clock, environment });
    }
    return source(request);
  };
}

/**
 * Asks the token broker that an account names for a token. Does nothing for an account that needs no broker.
 *
 * @throws Error that names the broker and the status of its answer; InvalidInputError for invalid settings
 */
export async function checkServerCredential(definition: JsonObject, options: ProviderContext): Promise<void> {
  const { server } = parseAccountFields(definition, 'account');
  if (server === undefined || server.bearerToken) return;
  await createServerCredential({ server: toServerAddress(server) }, new TokenBrokers(options), options)?.();
}
