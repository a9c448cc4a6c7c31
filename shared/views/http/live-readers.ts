import {
  type AskAgent,
  createRemoteInstanceReader,
  createRemoteJobReader,
  createRemoteManifestReader,
} from '#agents/protocol/remote-readers.ts';
import type { InstanceReader, JobReader, ManifestReader } from '#provider-kit/live-reads.ts';
import type { ProviderServices } from '#provider-kit/services/providers.ts';

type ReaderServices = Pick<ProviderServices, 'all' | 'providers'>;

/** The reader of an account's manifests: its provider, or an agent where only that reaches the cluster. @throws NotFoundError */
export async function getManifestReader(services: ReaderServices, account: string): Promise<ManifestReader> {
  const reader = await services.providers.getLiveReader(account, 'manifests');
  return isRemote(services, account) ? createRemoteManifestReader(createAsk(services), reader) : reader;
}

/** The same for its jobs. @throws NotFoundError when the account is unknown or has no jobs */
export async function getJobReader(services: ReaderServices, account: string): Promise<JobReader> {
  if (isRemote(services, account)) return createRemoteJobReader(createAsk(services));
  return services.providers.getLiveReader(account, 'jobs');
}

/** The same for what its instances write. @throws NotFoundError when the account is unknown or has none */
export async function getInstanceReader(services: ReaderServices, account: string): Promise<InstanceReader> {
  if (isRemote(services, account)) return createRemoteInstanceReader(createAsk(services));
  return services.providers.getLiveReader(account, 'instances');
}

function isRemote({ providers }: ReaderServices, account: string): boolean {
  return providers.findAccount(account)?.agentHome !== undefined;
}

/** The code that asks agents is loaded with the first read that needs one. */
function createAsk({ all }: ReaderServices): AskAgent {
  return async (call) => (await import('#agents/services/ask-agent.ts')).askAgent(all, call);
}
