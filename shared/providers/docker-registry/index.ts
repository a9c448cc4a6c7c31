import type { Provider, ProviderOptions, ProviderPlugin } from '#provider-kit/provider.ts';
import { parseRegistryAccounts } from './account.ts';
import { AccountClients } from './account-clients.ts';
import { knownSettings } from './known-settings.ts';
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
  const clients = new AccountClients(options);
  return {
    name: dockerRegistryPlugin.name,
    accounts,
    rejectedAccounts: rejected,
    accountWarnings: warnings,
    async loadCachingAgents() {
      const { createCachingAgents } = await import('./caching-agents.ts');
      return createCachingAgents(accounts, { clients, clock: options.clock, breakers: options.breakers });
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
      async getCredential(account) {
        const { getRegistryCredential } = await import('./registry-credentials.ts');
        return getRegistryCredential(account, { accounts, clients, credentials: options.credentials });
      },
    },
    [Symbol.asyncDispose]: () => clients[Symbol.asyncDispose](),
  };
}
