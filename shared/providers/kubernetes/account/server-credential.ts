import type { JsonObject } from '../../../core/json.ts';
import type { ProviderOptions } from '../../../core/providers/provider.ts';
import type { CredentialSource } from '../credentials/credentials.ts';
import { parseAccountFields } from './account-fields.ts';
import { type ServerAddress, toServerAddress } from './account-server.ts';
import { TokenBrokers } from './token-brokers.ts';

/**
 * What gives credentials for an account's API server: its own token, or the token broker that it names. The broker is opened when it
 * is first asked. Undefined where the account has no server.
 */
export function createServerCredential(
  server: ServerAddress | undefined,
  brokers: TokenBrokers,
  { clock, environment = {} }: Pick<ProviderOptions, 'clock' | 'environment'>,
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
      source ??= createBrokerSource(broker, tokenProvider, { clock, environment });
    }
    return source(request);
  };
}

/**
 * Asks the token broker that an account names for a token. One that needs no broker has nothing to ask.
 *
 * @throws Error that names the broker and the status of its answer; InvalidInputError for settings of no use
 */
export async function checkServerCredential(definition: JsonObject, options: ProviderOptions): Promise<void> {
  const { server } = parseAccountFields(definition, 'account');
  if (server === undefined || server.bearerToken) return;
  await createServerCredential(toServerAddress(server), new TokenBrokers(options), options)?.();
}
