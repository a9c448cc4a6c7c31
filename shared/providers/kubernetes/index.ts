import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import { bindOperations } from '#provider-kit/operation-definition.ts';
import type { Provider, ProviderOptions, ProviderPlugin } from '#provider-kit/provider.ts';
import { parseAccountFields } from './account/account-fields.ts';
import { createAgentAccess, reachOptions } from './account/agent-access.ts';
import { knownSettings } from './account/known-settings.ts';
import { inlineFiles, toLocalSettings } from './account/local-settings.ts';
import { toPublicSettings } from './account/public-settings.ts';
import { KubernetesSession } from './account/session.ts';
import { storedAccounts } from './account/stored-accounts.ts';
import { createLateReads } from './late-reads.ts';
import { rowCodec } from './rows/row-codec.ts';

/** Kubernetes: everything that a manifest can describe, through the API servers of the configured accounts. */
export const kubernetesPlugin: ProviderPlugin = {
  name: 'kubernetes',
  storedAccounts,
  reachOptions,
  readAgentAuth: (definition) => createAgentAccess(parseAccountFields(definition, ''), '')?.auth,
  rowCodecs: { serverGroups: rowCodec, pods: rowCodec, services: rowCodec },
  knownSettings,
  async loadInspector() {
    const { createKubeconfigInspector } = await import('./account/kubeconfig-choices.ts');
    return createKubeconfigInspector();
  },
  open: openKubernetes,
  toPublicSettings,
  toLocalSettings,
  inlineFiles,
};

function openKubernetes(options: ProviderOptions): Provider {
  const session = new KubernetesSession(options);
  let agents: readonly CachingAgent[] | undefined;
  return {
    name: kubernetesPlugin.name,
    accounts: [...session.accounts, ...session.v1Accounts],
    rejectedAccounts: session.rejectedAccounts,
    accountWarnings: session.accountWarnings,
    async loadOperations() {
      const { operationDefinitions } = await import('./operations/index.ts');
      const operations = bindOperations(operationDefinitions, session);
      if (session.v1Accounts.length === 0) return operations;
      const { addV1Operations } = await import('./v1/operations/index.ts');
      return addV1Operations(operations, session);
    },
    operationAliases: new Map([
      [
        'kubernetesV1',
        async () => {
          const { v1OperationDefinitions } = await import('./v1/operations/index.ts');
          return bindOperations(v1OperationDefinitions, session);
        },
      ],
    ]),
    ...createLateReads(session),
    async checkCredential({ body }) {
      const { checkServerCredential } = await import('./account/server-credential.ts');
      await checkServerCredential(body, options);
    },
    isReachable: (account) => session.isReachable(account),
    async loadCachingAgents() {
      const [{ createCachingAgents }, v1] = await Promise.all([
        import('./caching/caching-agents.ts'),
        session.v1Accounts.length === 0 ? undefined : import('./v1/caching/caching-agents.ts'),
      ]);
      agents ??= [...createCachingAgents(session, options), ...(v1?.createV1Agents(session, options) ?? [])];
      return agents;
    },
    async loadChangeReceiver() {
      const { createChangeReceiver } = await import('./cache-writer/change-receiver.ts');
      return createChangeReceiver(session);
    },
    async openViews(cache, mayRead) {
      const { createViewReader } = await import('./reads/view-reader.ts');
      const source = { cache, mayRead };
      const reader = createViewReader(session, source);
      if (session.v1Accounts.length === 0) return reader;
      const { joinV1ViewReader } = await import('./v1/reads/view-reader.ts');
      return joinV1ViewReader(session, { ...source, reader });
    },
    closing: session.closing,
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
