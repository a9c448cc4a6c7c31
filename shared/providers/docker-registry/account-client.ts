import { type BasicCredentials, createCredentials } from '#oci/credentials.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import type { RegistryAccount } from './account.ts';
import type { TagListing } from './cached-tags.ts';
import { EcrClient } from './ecr-client.ts';
import { createEcrCredentials } from './ecr-credentials.ts';
import { RegistryClient } from './registry-client.ts';
import { RegistrySender } from './registry-sender.ts';

/** The options of opening a client. */
export type ClientParts = Pick<ProviderContext, 'clock' | 'randomness' | 'log' | 'services' | 'environment'>;

/** A registry's client with its connections. */
export interface AccountClient extends AsyncDisposable {
  readonly client: RegistryClient;
  /** The credentials with which it authenticates. */
  readonly credentials: BasicCredentials;
  /** Lists repositories and tags, through the client or ECR's API. */
  readonly listing: TagListing;
}

/** Opens the client of an account, which connects on first use. */
export function openAccountClient(account: RegistryAccount, parts: ClientParts): AccountClient {
  const { clock, randomness } = parts;
  const { ecr: registry, threads } = account;
  const ecr = registry && new EcrClient({ ...parts, registry, threads });
  const credentials =
    ecr === undefined
      ? createCredentials(account, parts)
      : createEcrCredentials({ clock, ask: (signal) => ecr.getAuthorizationToken(signal) });
  const sender = new RegistrySender({ account, credentials, clock, randomness });
  const client = new RegistryClient(account, (request) => sender.send(request));
  // The registry's own protocol lists only names.
  const names: TagListing = {
    listRepositories: (signal) => client.listRepositories(signal),
    listTags: async (repository, signal) =>
      (await client.listTags(repository, signal))?.map((name) => ({ name })),
  };
  return {
    client,
    credentials,
    listing: ecr ?? names,
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}
