import { createHash } from 'node:crypto';
import { NotFoundError } from '#core/errors.ts';
import type { Provider, ProviderContext, ProviderPlugin } from '#provider-kit/provider.ts';
import { type ClientUse, SharedClients } from '#provider-kit/shared-clients.ts';
import type { ImageViews } from '#views/images.ts';
import { parseRegistryAccounts, type RegistryAccount } from './account.ts';
import type { AccountClient } from './account-client.ts';
import { accountOptions, knownSettings } from './account-fields.ts';
import { toPublicSettings } from './public-settings.ts';

/** Docker registries: images by their tags, through the registries of the configured accounts. */
export const dockerRegistryPlugin: ProviderPlugin = {
  name: 'dockerRegistry',
  knownSettings,
  storedAccounts: { options: accountOptions, secrets: ['password'], secretDestinations: ['address'] },
  open: openDockerRegistry,
  toPublicSettings,
};

function openDockerRegistry(options: ProviderContext): Provider {
  const { accounts, rejected, warnings } = parseRegistryAccounts(options);
  const uses = new Map<string, ClientUse<AccountClient>>();
  const openClient = createClientOpener(options, uses);
  const closing = createClosing(uses);
  return {
    name: dockerRegistryPlugin.name,
    clouds: [
      {
        name: dockerRegistryPlugin.name,
        accounts,
        caching: {
          async loadAgents() {
            const { createCachingAgents } = await import('./caching-agents.ts');
            const { clock, randomness, breakers } = options;
            return createCachingAgents(accounts, { openClient, clock, randomness, breakers });
          },
        },
        images: createImages(accounts),
      },
    ],
    rejectedAccounts: rejected,
    accountWarnings: warnings,
    registryCredentials: {
      async getCredential(name) {
        const account = accounts.find((each) => each.name === name);
        if (account === undefined) throw new NotFoundError(`there is no Docker registry account '${name}'`);
        if (options.credentials === 'withheld')
          throw new Error(`this function has no credentials of account ${name}`);
        const { credentials } = await openClient(account);
        const address = account.baseUrl.href.slice(0, -1);
        // Those of the account's client: refused ones are read again.
        return { address, email: account.email, basicAuth: await credentials.get() };
      },
    },
    closing,
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  };
}

/** Opens the client of an account, the same each time. It is loaded on first use, and shared with other openings of the same account. */
function createClientOpener(options: ProviderContext, uses: Map<string, ClientUse<AccountClient>>) {
  // Clients outlive the opening: they must not keep all accounts that it knew in memory.
  const { clock, randomness, log, services = {}, environment = {} } = options;
  const { clients = new SharedClients() } = options;
  return (account: RegistryAccount): Promise<AccountClient> => {
    const known = uses.get(account.name);
    if (known !== undefined) return known.client;
    const use = clients.use(toKey(account), async () => {
      const { openAccountClient } = await import('./account-client.ts');
      return openAccountClient(account, { clock, randomness, log, services, environment });
    });
    uses.set(account.name, use);
    return use.client;
  };
}

/** Of all options of the account: what the client does depends on most of them. It holds no secret. */
function toKey({ cloudProvider, fields }: RegistryAccount): string {
  const text = JSON.stringify([cloudProvider, fields]);
  return createHash('sha256').update(text).digest('base64url');
}

/** A separate function, since a closure retains all variables of its function. */
function createClosing(uses: Map<string, ClientUse<AccountClient>>): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      const ended = [...uses.values()];
      uses.clear();
      await Promise.all(ended.map((use) => use.release()));
    },
  };
}

function createImages(accounts: readonly RegistryAccount[]): ImageViews {
  return {
    // Titus keeps its images in Docker registries.
    cloudProviders: [dockerRegistryPlugin.name, 'titus'],
    async open({ cache, mayRead, content }) {
      const { createImageReader } = await import('./images.ts');
      const shown = accounts.filter(({ name }) => mayRead(name));
      if (content === 'images') return createImageReader({ cache, accounts: shown, kind: 'repository' });
      const withCharts = shown.filter(({ charts }) => charts.names.length > 0);
      return createImageReader({ cache, accounts: withCharts, kind: 'chart' });
    },
  };
}
