import { NotFoundError } from '#core/errors.ts';
import type { Provider, ProviderOptions, ProviderPlugin } from '#provider-kit/provider.ts';
import { parseRegistryAccounts, type RegistryAccount } from './account.ts';
import type { AccountClient } from './account-client.ts';
import { knownSettings } from './account-fields.ts';
import { toPublicSettings } from './public-settings.ts';

/** Docker registries: images by their tags, through the registries of the configured accounts. */
export const dockerRegistryPlugin: ProviderPlugin = {
  name: 'dockerRegistry',
  knownSettings,
  open: openDockerRegistry,
  toPublicSettings,
};

function openDockerRegistry(options: ProviderOptions): Provider {
  const { accounts, rejected, warnings } = parseRegistryAccounts(options);
  const clients = new Map<string, Promise<AccountClient>>();
  /** Loaded and opened on first use. */
  const openClient = (account: RegistryAccount): Promise<AccountClient> => {
    const load = async () => (await import('./account-client.ts')).openAccountClient(account, options);
    const opening = clients.get(account.name) ?? load();
    clients.set(account.name, opening);
    return opening;
  };
  return {
    name: dockerRegistryPlugin.name,
    accounts,
    rejectedAccounts: rejected,
    accountWarnings: warnings,
    async loadCachingAgents() {
      const { createCachingAgents } = await import('./caching-agents.ts');
      return createCachingAgents(accounts, { openClient, clock: options.clock, breakers: options.breakers });
    },
    images: {
      // Titus keeps its images in Docker registries.
      cloudProviders: [dockerRegistryPlugin.name, 'titus'],
      async open({ cache, mayRead, content }) {
        const { createImageReader } = await import('./images.ts');
        const shown = accounts.filter(({ name }) => mayRead(name));
        if (content === 'images') return createImageReader({ cache, accounts: shown, kind: 'repository' });
        const withCharts = shown.filter(({ charts }) => charts.names.length > 0);
        return createImageReader({ cache, accounts: withCharts, kind: 'chart' });
      },
    },
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
    async [Symbol.asyncDispose]() {
      const opened = await Promise.all(clients.values());
      await Promise.all(opened.map((client) => client[Symbol.asyncDispose]()));
    },
  };
}
