import type { Provider, ProviderOptions, ProviderPlugin } from '../../core/providers/provider.ts';
import { toPublicSettings } from './account/public-settings.ts';
import { KubernetesSession } from './account/session.ts';
import { createCachingAgents } from './caching/caching-agents.ts';
import { operationDefinitions } from './operations/index.ts';
import { bindOperation } from './operations/steps/operation-definition.ts';
import { createJobReader } from './reads/job-reader.ts';
import { createManifestReader } from './reads/manifest-reader.ts';
import { decodeRow, encodeRow } from './rows/row-codec.ts';

/** Kubernetes: everything that can be described by a manifest, through the API servers of the configured accounts. */
export const kubernetesPlugin: ProviderPlugin = {
  name: 'kubernetes',
  rowCodecs: { serverGroups: { encode: encodeRow, decode: decodeRow } },
  open: openKubernetes,
  toPublicSettings,
};

function openKubernetes(options: ProviderOptions): Provider {
  const session = new KubernetesSession(options);
  const caching = createCachingAgents(session, options);
  return {
    name: kubernetesPlugin.name,
    accounts: session.accounts,
    rejectedAccounts: session.rejectedAccounts,
    accountWarnings: session.accountWarnings,
    operations: operationDefinitions.map((definition) => bindOperation(definition, session)),
    manifests: createManifestReader(session),
    jobs: createJobReader(session),
    cachingAgents: caching.agents,
    async openViews(cache, mayRead) {
      const { createViewReader } = await import('./reads/view-reader.ts');
      return createViewReader(session, { cache, mayRead });
    },
    async [Symbol.asyncDispose]() {
      await caching[Symbol.asyncDispose]();
      await session[Symbol.asyncDispose]();
    },
  };
}
