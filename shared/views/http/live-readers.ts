import {
  type AskAgent,
  createRemoteInstanceReader,
  createRemoteJobReader,
  createRemoteManifestReader,
} from '#agents/protocol/remote-readers.ts';
import type { InstanceReader, JobReader, ManifestReader } from '#provider-kit/provider.ts';
import type { ProviderServices } from '#provider-kit/services/providers.ts';

type ReaderServices = Pick<ProviderServices, 'all' | 'providers'>;

/** The reader of an account's manifests: its provider, or an agent where only that reaches the cluster. @throws NotFoundError */
export function getManifestReader(services: ReaderServices, account: string): ManifestReader {
  const reader = services.providers.getManifestReader(account);
  return isRemote(services, account) ? createRemoteManifestReader(createAsk(services), reader) : reader;
}

/** The same for its jobs. @throws NotFoundError when the account is unknown or has no jobs */
export function getJobReader(services: ReaderServices, account: string): JobReader {
  const reader = services.providers.getJobReader(account);
  return isRemote(services, account) ? createRemoteJobReader(createAsk(services)) : reader;
}

/** The same for what its instances write. @throws NotFoundError when the account is unknown or has none */
export function getInstanceReader(services: ReaderServices, account: string): InstanceReader {
  const reader = services.providers.getInstanceReader(account);
  return isRemote(services, account) ? createRemoteInstanceReader(createAsk(services)) : reader;
}

function isRemote({ providers }: ReaderServices, account: string): boolean {
  return providers.findAccount(account)?.agentHome !== undefined;
}

/** The code that asks agents is loaded with the first read that needs one. */
function createAsk({ all }: ReaderServices): AskAgent {
  return async (call) => (await import('#agents/services/ask-agent.ts')).askAgent(all, call);
}
