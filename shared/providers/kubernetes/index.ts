import type { CloudProvider } from '#provider-kit/cloud-provider.ts';
import { bindOperations } from '#provider-kit/operation-definition.ts';
import type { Provider, ProviderContext, ProviderPlugin } from '#provider-kit/provider.ts';
import { agents } from './account/agent-access.ts';
import { knownSettings } from './account/known-settings.ts';
import { localFiles } from './account/local-settings.ts';
import { toPublicSettings } from './account/public-settings.ts';
import { KubernetesSession } from './account/session.ts';
import { storedAccounts } from './account/stored-accounts.ts';
import { rowCodec } from './rows/row-codec.ts';

/** Kubernetes: everything that a manifest can describe, through the API servers of the configured accounts. */
export const kubernetesPlugin: ProviderPlugin = {
  name: 'kubernetes',
  storedAccounts,
  agents,
  rowCodecs: { serverGroups: rowCodec, pods: rowCodec, services: rowCodec },
  knownSettings,
  async loadInspector() {
    const { createKubeconfigInspector } = await import('./account/kubeconfig-choices.ts');
    return createKubeconfigInspector();
  },
  open: openKubernetes,
  toPublicSettings,
  localFiles,
};

function openKubernetes(options: ProviderContext): Provider {
  const session = new KubernetesSession(options);
  return {
    name: kubernetesPlugin.name,
    clouds: [openV2(session, options), openV1(session, options)],
    rejectedAccounts: session.rejectedAccounts,
    accountWarnings: session.accountWarnings,
    async checkCredential({ body }) {
      const { checkServerCredential } = await import('./account/server-credential.ts');
      await checkServerCredential(body, options);
    },
    closing: session.closing,
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

function openV2(session: KubernetesSession, options: ProviderContext): CloudProvider {
  return {
    name: kubernetesPlugin.name,
    accounts: session.accounts,
    isReachable: (account) => session.isReachable(account),
    operations: {
      async load() {
        const { operationDefinitions } = await import('./operations/index.ts');
        return bindOperations(operationDefinitions, session);
      },
    },
    caching: {
      async loadAgents() {
        const { createCachingAgents } = await import('./caching/caching-agents.ts');
        return createCachingAgents(session, options);
      },
      async loadChangeReceiver() {
        const { createChangeReceiver } = await import('./cache-writer/change-receiver.ts');
        return createChangeReceiver(session);
      },
    },
    async openViews(cache, mayRead) {
      const { createViewReader } = await import('./reads/view-reader.ts');
      return createViewReader(session, { cache, mayRead });
    },
    async loadLiveReads() {
      const { openLiveReads } = await import('./reads/live-reads.ts');
      return openLiveReads(session);
    },
  };
}

/** The accounts of the Kubernetes V1 provider. */
function openV1(session: KubernetesSession, options: ProviderContext): CloudProvider {
  return {
    name: kubernetesPlugin.name,
    accounts: session.v1Accounts,
    isReachable: (account) => session.isReachable(account),
    operations: {
      alias: 'kubernetesV1',
      async load() {
        const { v1OperationDefinitions } = await import('./v1/operations/index.ts');
        return bindOperations(v1OperationDefinitions, session);
      },
    },
    caching: {
      async loadAgents() {
        const { createV1Agents } = await import('./v1/caching/caching-agents.ts');
        return createV1Agents(session, options);
      },
    },
    async openViews(cache, mayRead) {
      const { createV1ViewReader } = await import('./v1/reads/view-reader.ts');
      return createV1ViewReader(session, { cache, mayRead });
    },
    async loadLiveReads() {
      const { createV1LiveReads } = await import('./v1/reads/live-reads.ts');
      return createV1LiveReads(session);
    },
  };
}
