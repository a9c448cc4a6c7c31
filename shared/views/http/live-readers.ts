import {
  type AskAgent,
  createRemoteInstanceReader,
  createRemoteJobReader,
  createRemoteManifestReader,
} from '#agents/protocol/remote-readers.ts';
import type { InstanceReader, JobReader, ManifestReader } from '#provider-kit/provider.ts';
import type { ProviderServices } from '#provider-kit/services/providers.ts';

type ReaderServices = Pick<ProviderServices, 'all' | 'providers'>;

/**
 * What reads the manifests of an account: its provider, or an agent where its cluster is reached by one alone.
 *
 * @throws NotFoundError when the account is unknown or has no manifests
 */
export function getManifestReader(services: ReaderServices, account: string): ManifestReader {
  const reader = services.providers.getManifestReader(account);
  return isRemote(services, account) ? createRemoteManifestReader(createAsk(services), reader) : reader;
}

/** The same of its jobs. @throws NotFoundError when the account is unknown or has no jobs */
export function getJobReader(services: ReaderServices, account: string): JobReader {
  const reader = services.providers.getJobReader(account);
  return isRemote(services, account) ? createRemoteJobReader(createAsk(services)) : reader;
}

/** The same of what its instances write. @throws NotFoundError when the account is unknown or has none */
export function getInstanceReader(services: ReaderServices, account: string): InstanceReader {
  const reader = services.providers.getInstanceReader(account);
  return isRemote(services, account) ? createRemoteInstanceReader(createAsk(services)) : reader;
}

function isRemote({ providers }: ReaderServices, account: string): boolean {
  return providers.findAccount(account)?.agentHome !== undefined;
}

/** What asks agents is loaded with the first read that needs one. */
function createAsk({ all }: ReaderServices): AskAgent {
  return async (call) => (await import('#agents/services/ask-agent.ts')).askAgent(all, call);
}
