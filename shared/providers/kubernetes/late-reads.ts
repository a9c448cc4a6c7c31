import type { Provider } from '#provider-kit/provider.ts';
import type { KubernetesSession } from './account/session.ts';
import type { openLiveReads } from './live-reads.ts';

/** Reads from clusters for which a caller waits. Their code is loaded on first use: few functions make any. */
export function createLateReads(
  session: KubernetesSession,
): Required<Pick<Provider, 'manifests' | 'jobs' | 'instances'>> {
  let reads: ReturnType<typeof openLiveReads> | undefined;
  const load = async () => {
    const { openLiveReads } = await import('./live-reads.ts');
    reads ??= openLiveReads(session);
    return reads;
  };
  return {
    manifests: {
      isSecret: (name) => /^secret(?:\.\S*)? /i.test(name),
      getManifest: async (request) => (await load()).manifests.getManifest(request),
      listClusterManifests: async (request) => (await load()).manifests.listClusterManifests(request),
      getDynamicManifest: async (request, criteria) =>
        (await load()).manifests.getDynamicManifest(request, criteria),
    },
    jobs: {
      getJob: async (request) => (await load()).jobs.getJob(request),
      cancelJob: async (request) => (await load()).jobs.cancelJob(request),
      getFileContents: async (request, container) => (await load()).jobs.getFileContents(request, container),
    },
    instances: {
      getConsoleOutput: async (request) => (await load()).instances.getConsoleOutput(request),
      getFileContents: async (request, file) => (await load()).instances.getFileContents(request, file),
    },
  };
}
