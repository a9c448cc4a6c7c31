import { NotFoundError } from '#core/errors.ts';
import type { ProviderOptions } from '#provider-kit/provider.ts';
import type { RegistryCredential } from '#provider-kit/registry-credentials.ts';
import type { RegistryAccount } from './account.ts';
import type { AccountClients } from './account-clients.ts';

/** The sources of credentials. */
export interface CredentialParts {
  readonly accounts: readonly RegistryAccount[];
  /** The clients whose credentials are returned: refused ones are read again. */
  readonly clients: AccountClients;
  readonly credentials: ProviderOptions['credentials'];
}

/**
 * The credentials of an account, from its client.
 *
 * @throws like `RegistryCredentialSource`.
 */
export async function getRegistryCredential(
  name: string,
  { accounts, clients, credentials }: CredentialParts,
): Promise<RegistryCredential> {
  const account = accounts.find((each) => each.name === name);
  if (account === undefined) throw new NotFoundError(`there is no Docker registry account '${name}'`);
  if (credentials === 'withheld') throw new Error(`this function has no credentials of account ${name}`);
  const client = await clients.open(account);
  const basicAuth = await client.credentials.get();
  return { address: account.baseUrl.href.slice(0, -1), email: account.email, basicAuth };
}
