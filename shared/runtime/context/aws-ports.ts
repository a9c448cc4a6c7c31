import type { AwsIdentities } from '../../aws/identity/aws-identity.ts';
import type { Clock, Randomness } from '../../core/clock.ts';
import type { EksService } from '../../core/eks.ts';
import type { Logger } from '../../core/logger.ts';
import type { CallTurns, LookupStore } from '../../core/lookup.ts';
import type { ProviderOptions } from '../../core/providers/provider.ts';
import type { SecretReader } from '../../core/settings/secret-reference.ts';
import type { LookupParts } from './lookup-store.ts';

/** By what processes share what they look up in AWS. */
export interface LookupSharing {
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  /** Opens the store, when something is looked up: who reads but the settings needs none. */
  readonly openParts: () => Promise<LookupParts>;
}

/**
 * EKS and Secrets Manager for providers. The clients of the AWS SDK are loaded with the first account that needs one: nobody
 * else pays for them at their start.
 *
 * @param sharing left out, this process looks up everything by itself.
 */
export function createAwsPorts(
  clock: Clock,
  sharing?: LookupSharing,
): Required<Pick<ProviderOptions, 'eks' | 'secrets'>> {
  const parts = sharing && createLateParts(sharing);
  const randomness = sharing?.randomness ?? { fraction: () => 0.5 };
  const getIdentities = once(async (): Promise<AwsIdentities> => {
    const { AwsIdentities } = await import('../../aws/identity/aws-identity.ts');
    return new AwsIdentities(clock);
  });
  const getEks = once(async (): Promise<EksService> => {
    const { createEksService } = await import('../../aws/identity/eks-service.ts');
    const { SharedLookups } = await import('../../core/shared-lookups.ts');
    const shared = sharing &&
      parts && { ...parts, lookups: new SharedLookups({ ...sharing, ...parts, clock }) };
    return createEksService({ identities: await getIdentities(), clock, sharing: shared });
  });
  const getSecrets = once(async (): Promise<SecretReader> => {
    const { createSecretReader } = await import('../../aws/identity/secret-reader.ts');
    return createSecretReader({ identities: await getIdentities(), clock, randomness, store: parts?.store });
  });
  return {
    eks: {
      describeCluster: async (cluster, options) => (await getEks()).describeCluster(cluster, options),
      presignToken: async (cluster, options) => (await getEks()).presignToken(cluster, options),
    },
    secrets: {
      read: async (reference) => (await getSecrets()).read(reference),
      follow: async (reference, known) => (await getSecrets()).follow(reference, known),
    },
  };
}

/** Parts that are opened by their first call. */
function createLateParts({ openParts }: LookupSharing): {
  readonly store: LookupStore;
  readonly pace: CallTurns;
} {
  return {
    store: {
      find: async (key) => (await openParts()).store.find(key),
      replace: async (key, change) => (await openParts()).store.replace(key, change),
    },
    pace: { takeTurn: async (...parts) => (await openParts()).pace.takeTurn(...parts) },
  };
}

/** What `make` makes the first time. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
