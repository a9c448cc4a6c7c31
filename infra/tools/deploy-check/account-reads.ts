import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { APIGatewayClient, GetAccountCommand, GetDomainNamesCommand } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  DescribeResourcePoliciesCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeRouteTablesCommand,
  DescribeSubnetsCommand,
  DescribeVpcAttributeCommand,
  DescribeVpcEndpointsCommand,
  DescribeVpcsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import {
  GetAccountSummaryCommand,
  GetPolicyCommand,
  GetRoleCommand,
  IAMClient,
  SimulatePrincipalPolicyCommand,
} from '@aws-sdk/client-iam';
import { DescribeKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import {
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { GetTopicAttributesCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { Client, Command, MetadataBearer } from '@smithy/types';
import { callAccount, NotReadError } from './account-calls.ts';

/** Whose account is asked, and where. */
export interface AccountOptions {
  /** A profile of the AWS CLI's files. Default: as for the AWS CLI. */
  readonly profile?: string | undefined;
  /** Default: as for the AWS CLI, but without `AWS_DEFAULT_REGION`. */
  readonly region?: string | undefined;
}

/** An account of AWS, and a region of it. */
export type Account = ReturnType<typeof openAccount>;

/** One operation of AWS that reads. */
export interface AccountRead<Input, Output> {
  /** What IAM must allow for it, by the Service Authorization Reference. */
  readonly action: string;
  /** Calls it. @returns undefined where there is no such thing. @throws NotReadError where it is refused, fails or takes too long */
  find(input: Input): Promise<Output | undefined>;
  /** Calls it. @throws NotReadError, also where there is no such thing */
  get(input: Input): Promise<Output>;
}

/** Attempts at one call, the first among them: AWS throttles who asks much at once. */
const attemptsMax = 4;

const connectTimeoutMs = 3_000;

/**
 * Opens an account. Its reads are every operation that the check can call: none changes anything, and the policy for running it is made of
 * them.
 */
export function openAccount({ profile, region }: AccountOptions) {
  const options = {
    ...(profile !== undefined && { profile }),
    ...(region !== undefined && { region }),
    // One for all: a person is asked once for the code of a device.
    credentials: defaultProvider(profile === undefined ? {} : { profile }),
    maxAttempts: attemptsMax,
    requestHandler: { connectionTimeout: connectTimeoutMs },
  };
  const apiGateway = defineReads('apigateway', new APIGatewayClient(options));
  const ec2 = defineReads('ec2', new EC2Client(options));
  const iam = defineReads('iam', new IAMClient(options));
  const lambda = defineReads('lambda', new LambdaClient(options));
  const logs = defineReads('logs', new CloudWatchLogsClient(options));
  const secretsManager = defineReads('secretsmanager', new SecretsManagerClient(options));
  const sts = new STSClient(options);
  return {
    /** @throws Error where nothing names a region */
    getRegion: () => sts.config.region(),
    reads: {
      describeCertificate: defineReads('acm', new ACMClient(options))(DescribeCertificateCommand),
      getApiAccount: apiGateway(GetAccountCommand),
      getDomainNames: apiGateway(GetDomainNamesCommand),
      describeStacks: defineReads('cloudformation', new CloudFormationClient(options))(DescribeStacksCommand),
      describeTable: defineReads('dynamodb', new DynamoDBClient(options))(DescribeTableCommand),
      describeRouteTables: ec2(DescribeRouteTablesCommand),
      describeSubnets: ec2(DescribeSubnetsCommand),
      describeVpcAttribute: ec2(DescribeVpcAttributeCommand),
      describeVpcEndpoints: ec2(DescribeVpcEndpointsCommand),
      describeVpcs: ec2(DescribeVpcsCommand),
      getAccountSummary: iam(GetAccountSummaryCommand),
      getPolicy: iam(GetPolicyCommand),
      getRole: iam(GetRoleCommand),
      simulatePrincipalPolicy: iam(SimulatePrincipalPolicyCommand),
      describeKey: defineReads('kms', new KMSClient(options))(DescribeKeyCommand),
      getAccountSettings: lambda(GetAccountSettingsCommand),
      getFunctionConcurrency: lambda(GetFunctionConcurrencyCommand),
      describeLogGroups: logs(DescribeLogGroupsCommand),
      describeLogPolicies: logs(DescribeResourcePoliciesCommand),
      describeSecret: secretsManager(DescribeSecretCommand),
      getSecretValue: secretsManager(GetSecretValueCommand),
      getTopicAttributes: defineReads('sns', new SNSClient(options))(GetTopicAttributesCommand),
      getParameter: defineReads('ssm', new SSMClient(options))(GetParameterCommand),
      getCallerIdentity: defineReads('sts', sts)(GetCallerIdentityCommand),
    },
  };
}

/** Makes reads of a service, whose commands are called as IAM calls their actions; but API Gateway's are methods of HTTP. */
function defineReads<Inputs extends object, Outputs extends MetadataBearer, Config>(
  service: string,
  client: Client<Inputs, Outputs, Config>,
) {
  return <Input extends Inputs, Output extends Outputs>(
    Read: new (input: Input) => Command<Inputs, Input, Outputs, Output, Config>,
  ): AccountRead<Input, Output> => {
    const action = `${service}:${service === 'apigateway' ? 'GET' : Read.name.replace(/Command$/, '')}`;
    const find = (input: Input) =>
      callAccount(action, (abortSignal) => client.send(new Read(input), { abortSignal }));
    const get = async (input: Input): Promise<Output> => {
      const answer = await find(input);
      if (answer === undefined) throw new NotReadError(`${action}: there is no such thing`);
      return answer;
    };
    return { action, find, get };
  };
}

/** The IAM policy that running the check needs, and no more. @param readsValues whether it may read what is in secrets, too */
export function toReaderPolicy({ reads }: Account, readsValues: boolean) {
  const { getSecretValue, ...others } = reads;
  const actions = Object.values(others).map(({ action }) => action);
  // A secret with a key of its own is decrypted in the reader's name.
  if (readsValues) actions.push(getSecretValue.action, 'kms:Decrypt');
  const Action = [...new Set(actions)].sort();
  return {
    Version: '2012-10-17',
    Statement: [{ Sid: 'BusdriverDeployCheck', Effect: 'Allow', Action, Resource: '*' }],
  };
}
