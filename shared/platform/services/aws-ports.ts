import type { Clock, Randomness } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import type { HostServices } from '#provider-kit/host-services.ts';
import type { SecretReader } from '#settings/secret-reference.ts';
import type { AwsIdentities } from '../aws/identity/aws-identity.ts';
import type { EcrService } from '../ports/ecr.ts';
import type { EksService } from '../ports/eks.ts';
import type { CallTurns, LookupStore } from '../ports/lookup.ts';
import type { S3Service } from '../ports/s3.ts';
import type { StsService } from '../ports/sts.ts';
import type { LookupParts } from './lookup-store.ts';

/** How processes share what they look up in AWS. */
export interface LookupSharing {
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  /** Opens the store with the first lookup: functions that only read the settings need none. */
  readonly openParts: () => Promise<LookupParts>;
}

/** Where this process runs. */
export interface AwsPlace {
  readonly placement: 'local' | 'deployed';
  /** Variables that may name AWS endpoints. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** An unknown place: the settings may hold no secret. */
const unknownPlace: AwsPlace = { placement: 'deployed', environment: {} };

/**
 * EKS, ECR, S3, STS and secrets for providers. The clients of the AWS SDK are loaded with the first account that needs one: others do not
 * pay for them at their start.
 *
 * @param sharing left out, this process looks up everything itself.
 */
export function createAwsPorts(
  clock: Clock,
  sharing?: LookupSharing,
  place: AwsPlace = unknownPlace,
): Required<HostServices> {
  const parts = sharing && createLateParts(sharing);
  const randomness = sharing?.randomness ?? { fraction: () => 0.5 };
  const getIdentities = once(async (): Promise<AwsIdentities> => {
    const { AwsIdentities } = await import('../aws/identity/aws-identity.ts');
    return new AwsIdentities(clock);
  });
  const getEks = once(async (): Promise<EksService> => {
    const { createEksService } = await import('../aws/identity/eks-service.ts');
    const { SharedLookups } = await import('../ports/shared-lookups.ts');
    const shared = sharing &&
      parts && { ...parts, lookups: new SharedLookups({ ...sharing, ...parts, clock }) };
    return createEksService({ identities: await getIdentities(), clock, sharing: shared });
  });
  const getSecrets = once(async (): Promise<SecretReader> => {
    const { createSecretReader } = await import('../aws/identity/secret-reader.ts');
    const given = { ...place, clock, randomness, store: parts?.store, parseYaml };
    return createSecretReader({ ...given, identities: await getIdentities() });
  });
  const getS3 = once(async (): Promise<S3Service> => {
    const { createS3Service } = await import('../aws/identity/s3-signer.ts');
    return createS3Service({ identities: await getIdentities(), clock, environment: place.environment });
  });
  const getSts = once(async (): Promise<StsService> => {
    const { createStsService } = await import('../aws/identity/sts-signer.ts');
    return createStsService({ identities: await getIdentities(), clock });
  });
  const getEcr = once(async (): Promise<EcrService> => {
    const { createEcrService } = await import('../aws/identity/ecr-service.ts');
    return createEcrService({ identities: await getIdentities(), clock, environment: place.environment });
  });
  return {
    ecr: {
      getAuthorizationToken: async (...call) => (await getEcr()).getAuthorizationToken(...call),
      describeRepositories: async (...call) => (await getEcr()).describeRepositories(...call),
      describeImages: async (...call) => (await getEcr()).describeImages(...call),
    },
    sts: {
      signCallerIdentity: async (headers) => (await getSts()).signCallerIdentity(headers),
    },
    s3: {
      getEndpoint: async (region) => (await getS3()).getEndpoint(region),
      signGet: async (...request) => (await getS3()).signGet(...request),
    },
    eks: {
      describeCluster: async (cluster, options) => (await getEks()).describeCluster(cluster, options),
      presignToken: async (cluster, options) => (await getEks()).presignToken(cluster, options),
    },
    secrets: {
      read: async (reference) => (await getSecrets()).read(reference),
      follow: async (reference, known) => (await getSecrets()).follow(reference, known),
      readRoles: async (reference) => (await getSecrets()).readRoles(reference),
    },
  };
}

/** Loaded late: few secrets are YAML. */
async function parseYaml(text: string): Promise<unknown> {
  const { parseSecretYaml } = await import('./secret-yaml.ts');
  return parseSecretYaml(text);
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

/** The first result of `make`. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
