import {
  CreateSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import type { StackOptions } from './cdk.ts';
import type { OperatorSecrets } from './option-steps.ts';

/** Name under which the public installation answers. */
export const domainName = 'clouddriver.example.com';

/** An installation to throw away. The emulator has no archive of events and no response streaming. */
const common = { archiveDays: '0', protectData: 'false', responseStreaming: 'false' } as const;

/** A VPC that the emulator has from the start is not needed: it asks nobody whether there is one. */
const network = { vpcId: 'vpc-0a0a0a0a', subnetIds: 'subnet-0a0a0a0a,subnet-0b0b0b0b' } as const;

const certificateArn = `arn:aws:acm:${localRegion}:${localAccountId}:certificate/00000000-0000-4000-8000-000000000000`;

/**
 * The installation that is tested: behind a domain and an authorizer, with functions in a VPC. It is a public one, since the
 * emulator knows no private domains.
 */
export function describeTestedInstallation(authorizerSecretArn: string): StackOptions {
  return {
    ...common,
    ...network,
    ...{ stage: 'test', logLevel: 'DEBUG' },
    ...{ publicApi: 'true', domainName, certificateArn, authorizerSecretArn },
    repositoryArnPrefixes: `arn:aws:ecr:${localRegion}:${localAccountId}:repository/`,
  };
}

/** A private installation with an endpoint of its own, and a secret for callers that the stacks make. */
export function describePrivateInstallation(): StackOptions {
  return { ...common, ...network, stage: 'private', clientCidrs: '10.20.0.0/16', authentication: 'secret' };
}

/** The same, for agents as well. */
export function describeInstallationWithAgents(authorizerSecretArn: string): StackOptions {
  return { ...describeTestedInstallation(authorizerSecretArn), agents: 'true' };
}

/** How the names of the tested installation's resources begin. */
export const testedName = 'busdriver-test';

/** How the names of the private installation's resources begin. */
export const privateName = 'busdriver-private';

/** Puts secrets where the operator would put them: what callers share with the API, twice, and two that are empty yet. */
export async function createOperatorSecrets(
  endpoint: string,
  sharedSecret: string,
): Promise<OperatorSecrets> {
  const client = new SecretsManagerClient({ ...localClientOptions, endpoint });
  const create = async (Name: string, SecretString: string): Promise<string> =>
    (await client.send(new CreateSecretCommand({ Name, SecretString }))).ARN ?? '';
  try {
    return {
      authorizer: await create('operator-authorizer', sharedSecret),
      otherAuthorizer: await create('operator-other-authorizer', sharedSecret),
      config: await create('operator-config', '{}'),
      artifacts: await create('operator-artifacts', '{}'),
    };
  } finally {
    client.destroy();
  }
}

/** Reads the secret that the stacks of the private installation made, as its operator would. */
export async function readMadeSecret(endpoint: string): Promise<string> {
  const client = new SecretsManagerClient({ ...localClientOptions, endpoint });
  try {
    const secret = await client.send(new GetSecretValueCommand({ SecretId: `${privateName}-authorizer` }));
    return secret.SecretString ?? '';
  } finally {
    client.destroy();
  }
}
