import type { Context } from '#infra/aws/context/context.ts';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import type { Options } from '#test/infra/aws/stacks/synthesize.ts';

/** Secrets that the operator has made. */
export interface OperatorSecrets {
  /** What callers share with the API. */
  readonly authorizer: string;
  /** Another one with the same text. */
  readonly otherAuthorizer: string;
  /** For Spinnaker's YAML, instead of the one that the stacks make. */
  readonly config: string;
  /** For artifact accounts, instead of the one that the stacks make. */
  readonly artifacts: string;
}

/** How a deployed installation gets another value of an option. */
export interface OptionStep {
  /** The options that change, the one itself and those that it needs or rules out; undefined for what is not given any more. */
  readonly change: (secrets: OperatorSecrets) => Options;
  /** What the emulator keeps a record of only; undefined where it works as AWS does. */
  readonly recorded?: string;
}

/** Why an option is not changed in a deployed installation. */
export interface OptionReason {
  readonly reason: string;
}

const arn = (service: string, resource: string) =>
  `arn:aws:${service}:${localRegion}:${localAccountId}:${resource}`;
const otherAccount = 'arn:aws:iam::222233334444';

const noNetwork = 'it has no network of VPCs: its functions run on this machine';
const noDoor =
  'it lets everybody who knows its id call an API, whatever its policy, type and certificates say';
const noIam = 'it asks no policy of IAM';

/**
 * The installation that is updated: private, in a VPC, with an endpoint of its own. That of the earlier release was made with ranges of
 * `10.0.0.0/8`, and without saying who may call.
 */
export const firstOptions: Options = {
  stage: 'test',
  vpcId: 'vpc-0a0a0a0a',
  subnetIds: 'subnet-0a0a0a0a,subnet-0b0b0b0b',
  clientCidrs: '10.20.0.0/16',
  authentication: 'none',
  // The emulator streams no answers.
  responseStreaming: 'false',
};

const anotherInstallation = {
  reason:
    'Names of stacks begin with it: another value is another installation, and the first one stays as it is.',
};

/**
 * What happens to an installation, in this order: each step begins where the one before has ended. The type asks for every option that
 * there is.
 */
export const optionSteps: { readonly [K in keyof Context]: OptionStep | OptionReason } = {
  stage: anotherInstallation,
  namePrefix: anotherInstallation,
  // Callers send the secret before it is asked for: with one that the stacks make they could not.
  authentication: {
    change: ({ authorizer }) => ({ authentication: 'secret', authorizerSecretArn: authorizer }),
  },
  authorizerSecretArn: { change: ({ otherAuthorizer }) => ({ authorizerSecretArn: otherAuthorizer }) },
  logLevel: { change: () => ({ logLevel: 'DEBUG' }) },
  providers: {
    reason:
      'templates do not have it: functions are bundled with them, which provider-package.slow.test.ts tries',
  },
  profiles: { change: () => ({ profiles: 'local,prod' }) },
  agentIntervalSeconds: { change: () => ({ agentIntervalSeconds: '120' }) },
  concurrency: { change: () => ({ concurrency: 'operations=5,agents=20' }) },
  configSecretArn: { change: ({ config }) => ({ configSecretArn: config }) },
  artifactsSecretArn: { change: ({ artifacts }) => ({ artifactsSecretArn: artifacts }) },
  artifactStoreBucket: { change: () => ({ artifactStoreBucket: 'stored-artifacts' }) },
  encryptionKeyArn: {
    change: () => ({ encryptionKeyArn: arn('kms', 'key/01234567-89ab-cdef-0123-456789abcdef') }),
    recorded: 'it encrypts nothing',
  },
  permissionsBoundaryArn: {
    change: () => ({ permissionsBoundaryArn: `arn:aws:iam::${localAccountId}:policy/boundary` }),
    recorded: noIam,
  },
  clusterArns: { change: () => ({ clusterArns: arn('eks', 'cluster/shop') }), recorded: noIam },
  clusterArnPrefixes: { change: () => ({ clusterArnPrefixes: arn('eks', 'cluster/') }), recorded: noIam },
  accountRoleArns: {
    change: () => ({ accountRoleArns: `${otherAccount}:role/spinnaker-deployer` }),
    recorded: noIam,
  },
  accountRoleArnPrefixes: {
    change: () => ({ accountRoleArnPrefixes: `${otherAccount}:role/spinnaker/` }),
    recorded: noIam,
  },
  accountSecretArns: {
    change: () => ({ accountSecretArns: arn('secretsmanager', 'secret:shop-AbCdEf') }),
    recorded: noIam,
  },
  accountSecretArnPrefixes: {
    change: () => ({ accountSecretArnPrefixes: arn('secretsmanager', 'secret:spinnaker/') }),
    recorded: noIam,
  },
  repositoryArns: { change: () => ({ repositoryArns: arn('ecr', 'repository/shop/cart') }), recorded: noIam },
  repositoryArnPrefixes: {
    change: () => ({ repositoryArnPrefixes: arn('ecr', 'repository/') }),
    recorded: noIam,
  },
  alarmTopicArn: {
    change: () => ({ alarmTopicArn: arn('sns', 'alarms') }),
    recorded: 'no metric of a function reaches its alarms',
  },
  archiveDays: { change: () => ({ archiveDays: '7' }), recorded: 'it archives no events' },
  logRetentionDays: { change: () => ({ logRetentionDays: '7' }), recorded: 'it keeps logs until it ends' },
  apiLogRole: { change: () => ({ apiLogRole: 'existing' }), recorded: 'its API Gateway writes no logs' },
  clientCidrs: { change: () => ({ clientCidrs: '10.20.0.0/16,192.168.0.0/16' }), recorded: noNetwork },
  subnetIds: { change: () => ({ subnetIds: 'subnet-0c0c0c0c,subnet-0d0d0d0d' }), recorded: noNetwork },
  vpcId: { change: () => ({ vpcId: 'vpc-0b0b0b0b' }), recorded: noNetwork },
  vpcEndpointIds: {
    change: () => ({ vpcEndpointIds: 'vpce-0123456789abcdef0', clientCidrs: undefined }),
    recorded: noDoor,
  },
  vpcEndpointId: {
    change: () => ({ vpcEndpointId: 'vpce-0123456789abcdef1', vpcEndpointIds: undefined }),
    recorded: noDoor,
  },
  domainName: {
    change: () => ({
      domainName: 'clouddriver.example.com',
      certificateArn: arn('acm', 'certificate/00000000-0000-4000-8000-000000000000'),
    }),
    recorded: noDoor,
  },
  certificateArn: {
    change: () => ({ certificateArn: arn('acm', 'certificate/11111111-1111-4111-8111-111111111111') }),
    recorded: noDoor,
  },
  publicApi: { change: () => ({ publicApi: 'true', vpcEndpointId: undefined }), recorded: noDoor },
  truststoreUri: { change: () => ({ truststoreUri: 's3://trust/store.pem' }), recorded: noDoor },
  truststoreVersion: { change: () => ({ truststoreVersion: '7' }), recorded: noDoor },
  callerArns: {
    change: () => ({
      authentication: 'iam',
      callerArns: `${otherAccount}:role/spinnaker`,
      authorizerSecretArn: undefined,
    }),
    recorded: 'it asks whether a request is signed, and not by whom',
  },
  responseStreaming: { change: () => ({ responseStreaming: 'true' }), recorded: 'it streams no answers' },
  agents: { change: () => ({ agents: 'true' }) },
  agentsDomainName: {
    change: () => ({
      agentsDomainName: 'agents.example.com',
      agentsCertificateArn: arn('acm', 'certificate/00000000-0000-4000-8000-000000000000'),
    }),
    recorded: noDoor,
  },
  agentsCertificateArn: {
    change: () => ({ agentsCertificateArn: arn('acm', 'certificate/11111111-1111-4111-8111-111111111111') }),
    recorded: noDoor,
  },
  agentsTrustStore: {
    change: () => ({ agentsTrustStore: 's3://trust/agents.pem?versionId=7' }),
    recorded: noDoor,
  },
  protectData: { change: () => ({ protectData: 'false' }) },
};

/** A step with all options as they are afterwards. */
export interface PlannedStep {
  readonly option: string;
  readonly recorded: string | undefined;
  readonly options: Options;
}

/** The steps in their order. */
export function planSteps(secrets: OperatorSecrets): readonly PlannedStep[] {
  let options = firstOptions;
  return Object.entries(optionSteps).flatMap(([option, step]) => {
    if (!('change' in step)) return [];
    options = dropUndefined({ ...options, ...step.change(secrets) });
    return [{ option, recorded: step.recorded, options }];
  });
}

function dropUndefined(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
