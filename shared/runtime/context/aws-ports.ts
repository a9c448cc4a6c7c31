import type { AwsIdentities } from '../../aws/identity/aws-identity.ts';
import type { Clock } from '../../core/clock.ts';
import type { EksService } from '../../core/eks.ts';
import type { ProviderOptions } from '../../core/providers/provider.ts';
import type { SecretReader } from '../../core/settings/secret-reference.ts';

/**
 * EKS and Secrets Manager for providers. The clients of the AWS SDK are loaded with the first account that needs one: nobody
 * else pays for them at their start.
 */
export function createAwsPorts(clock: Clock): Required<Pick<ProviderOptions, 'eks' | 'secrets'>> {
  const getIdentities = once(async (): Promise<AwsIdentities> => {
    const { AwsIdentities } = await import('../../aws/identity/aws-identity.ts');
    return new AwsIdentities(clock);
  });
  const getEks = once(async (): Promise<EksService> => {
    const { createEksService } = await import('../../aws/identity/eks-service.ts');
    return createEksService({ identities: await getIdentities(), clock });
  });
  const getSecrets = once(async (): Promise<SecretReader> => {
    const { createSecretReader } = await import('../../aws/identity/secret-reader.ts');
    return createSecretReader(await getIdentities());
  });
  return {
    eks: {
      describeCluster: async (cluster) => (await getEks()).describeCluster(cluster),
      presignToken: async (cluster, options) => (await getEks()).presignToken(cluster, options),
    },
    secrets: { read: async (reference) => (await getSecrets()).read(reference) },
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
