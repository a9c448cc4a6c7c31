import { ACMClient } from '@aws-sdk/client-acm';
import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EC2Client } from '@aws-sdk/client-ec2';
import { EKSClient } from '@aws-sdk/client-eks';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { IAMClient } from '@aws-sdk/client-iam';
import { KMSClient } from '@aws-sdk/client-kms';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { Route53Client } from '@aws-sdk/client-route-53';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { STSClient } from '@aws-sdk/client-sts';
import { defaultProvider } from '@aws-sdk/credential-provider-node';

/** A client for each service that the check asks. */
export type AwsClients = ReturnType<typeof openAwsClients>;

/** Whose account is asked, and where. */
export interface AwsClientOptions {
  /** A profile of the AWS CLI's files. Default: as for the AWS CLI. */
  readonly profile: string | undefined;
  /** Default: as for the AWS CLI, but without `AWS_DEFAULT_REGION`. */
  readonly region: string | undefined;
}

/** Attempts at one call, the first among them: AWS throttles who asks much at once. */
const attemptsMax = 4;

const connectTimeoutMs = 3_000;
const answerTimeoutMs = 8_000;

/** Opens them. Each ends with the process; none holds anything open while it is idle for long. */
export function openAwsClients({ profile, region }: AwsClientOptions) {
  const options = {
    ...(profile !== undefined && { profile }),
    ...(region !== undefined && { region }),
    // One for all: a person is asked once for the code of a device.
    credentials: defaultProvider(profile === undefined ? {} : { profile }),
    maxAttempts: attemptsMax,
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      requestTimeout: answerTimeoutMs,
      throwOnRequestTimeout: true,
    },
  };
  return {
    acm: new ACMClient(options),
    apiGateway: new APIGatewayClient(options),
    cloudFormation: new CloudFormationClient(options),
    dynamoDb: new DynamoDBClient(options),
    ec2: new EC2Client(options),
    eks: new EKSClient(options),
    events: new EventBridgeClient(options),
    iam: new IAMClient(options),
    kms: new KMSClient(options),
    lambda: new LambdaClient(options),
    logs: new CloudWatchLogsClient(options),
    route53: new Route53Client(options),
    secretsManager: new SecretsManagerClient(options),
    serviceQuotas: new ServiceQuotasClient(options),
    sns: new SNSClient(options),
    sqs: new SQSClient(options),
    ssm: new SSMClient(options),
    sts: new STSClient(options),
  };
}
