import { InvalidInputError } from '#core/errors.ts';
import type { OpenedSources } from './download/source.ts';

/**
 * Clouddriver's built-in accounts for artifacts that Spinnaker does not download: the platform that gets the reference fetches them. They
 * are listed because Deck offers them.
 */
const accounts = [
  { name: 'custom-artifact', type: 'artifacts-custom', types: ['custom/object'] },
  { name: 'docker-registry', type: 'artifacts-docker', types: ['docker/image'] },
  {
    name: 'kubernetes',
    type: 'artifacts-kubernetes',
    types: ['kubernetes/configMap', 'kubernetes/deployment', 'kubernetes/replicaSet', 'kubernetes/secret'],
  },
];

/** The accounts of artifacts that are passed on to the platform. Fetching one is refused. */
export function openPassedOnSources(): OpenedSources {
  const sources = accounts.map((account) => ({
    ...account,
    handles: (type: string) => account.types.includes(type),
    fetch: async () => {
      throw new InvalidInputError(
        `Artifacts of account '${account.name}' cannot be downloaded: they are passed on to the platform`,
      );
    },
    [Symbol.asyncDispose]: async () => {},
  }));
  return { sources, rejectedAccounts: [] };
}
