import { DescribeCertificateCommand, type DescribeCertificateCommandInput } from '@aws-sdk/client-acm';
import {
  GetAccountCommand,
  type GetAccountCommandInput,
  GetDomainNamesCommand,
  type GetDomainNamesCommandInput,
  GetRestApisCommand,
  type GetRestApisCommandInput,
} from '@aws-sdk/client-api-gateway';
import {
  DescribeAccountLimitsCommand,
  type DescribeAccountLimitsCommandInput,
  DescribeStacksCommand,
  type DescribeStacksCommandInput,
} from '@aws-sdk/client-cloudformation';
import {
  DescribeLogGroupsCommand,
  type DescribeLogGroupsCommandInput,
  DescribeResourcePoliciesCommand,
  type DescribeResourcePoliciesCommandInput,
} from '@aws-sdk/client-cloudwatch-logs';
import {
  DescribeTableCommand,
  type DescribeTableCommandInput,
  ListTablesCommand,
  type ListTablesCommandInput,
} from '@aws-sdk/client-dynamodb';
import {
  DescribeNetworkInterfacesCommand,
  type DescribeNetworkInterfacesCommandInput,
  DescribeRouteTablesCommand,
  type DescribeRouteTablesCommandInput,
  DescribeSecurityGroupsCommand,
  type DescribeSecurityGroupsCommandInput,
  DescribeSubnetsCommand,
  type DescribeSubnetsCommandInput,
  DescribeVpcAttributeCommand,
  type DescribeVpcAttributeCommandInput,
  DescribeVpcEndpointServicesCommand,
  type DescribeVpcEndpointServicesCommandInput,
  DescribeVpcEndpointsCommand,
  type DescribeVpcEndpointsCommandInput,
  DescribeVpcsCommand,
  type DescribeVpcsCommandInput,
} from '@aws-sdk/client-ec2';
import { DescribeClusterCommand, type DescribeClusterCommandInput } from '@aws-sdk/client-eks';
import {
  DescribeEventBusCommand,
  type DescribeEventBusCommandInput,
  ListEventBusesCommand,
  type ListEventBusesCommandInput,
  ListRulesCommand,
  type ListRulesCommandInput,
} from '@aws-sdk/client-eventbridge';
import {
  GetAccountSummaryCommand,
  type GetAccountSummaryCommandInput,
  GetPolicyCommand,
  type GetPolicyCommandInput,
  GetRoleCommand,
  type GetRoleCommandInput,
  SimulatePrincipalPolicyCommand,
  type SimulatePrincipalPolicyCommandInput,
} from '@aws-sdk/client-iam';
import {
  DescribeKeyCommand,
  type DescribeKeyCommandInput,
  GetKeyPolicyCommand,
  type GetKeyPolicyCommandInput,
} from '@aws-sdk/client-kms';
import {
  GetAccountSettingsCommand,
  type GetAccountSettingsCommandInput,
  GetFunctionConcurrencyCommand,
  type GetFunctionConcurrencyCommandInput,
} from '@aws-sdk/client-lambda';
import {
  ListHostedZonesByNameCommand,
  type ListHostedZonesByNameCommandInput,
  ListHostedZonesByVPCCommand,
  type ListHostedZonesByVPCCommandInput,
} from '@aws-sdk/client-route-53';
import {
  DescribeSecretCommand,
  type DescribeSecretCommandInput,
  GetSecretValueCommand,
  type GetSecretValueCommandInput,
} from '@aws-sdk/client-secrets-manager';
import {
  GetAWSDefaultServiceQuotaCommand,
  type GetAWSDefaultServiceQuotaCommandInput,
  GetServiceQuotaCommand,
  type GetServiceQuotaCommandInput,
} from '@aws-sdk/client-service-quotas';
import { GetTopicAttributesCommand, type GetTopicAttributesCommandInput } from '@aws-sdk/client-sns';
import { ListQueuesCommand, type ListQueuesCommandInput } from '@aws-sdk/client-sqs';
import { GetParameterCommand, type GetParameterCommandInput } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, type GetCallerIdentityCommandInput } from '@aws-sdk/client-sts';
import type { AwsClients } from './aws-clients.ts';

/** How one call is made. */
export interface CallOptions {
  /** Ends it. */
  readonly abortSignal: AbortSignal;
}

/** One operation of AWS that reads. */
export interface AccountRead<Input, Output> {
  /** What IAM must allow for it. */
  readonly action: string;
  send(clients: AwsClients, input: Input, options: CallOptions): Promise<Output>;
}

/**
 * Every operation that the check can call: each reads, none changes anything. The policy of whoever runs it is made of the same table.
 * Actions are those of the Service Authorization Reference.
 */
export const accountReads = {
  getCallerIdentity: define(
    'sts:GetCallerIdentity',
    ({ sts }, input: GetCallerIdentityCommandInput, options) =>
      sts.send(new GetCallerIdentityCommand(input), options),
  ),
  getParameter: define('ssm:GetParameter', ({ ssm }, input: GetParameterCommandInput, options) =>
    ssm.send(new GetParameterCommand(input), options),
  ),
  describeStacks: define(
    'cloudformation:DescribeStacks',
    ({ cloudFormation }, input: DescribeStacksCommandInput, options) =>
      cloudFormation.send(new DescribeStacksCommand(input), options),
  ),
  describeAccountLimits: define(
    'cloudformation:DescribeAccountLimits',
    ({ cloudFormation }, input: DescribeAccountLimitsCommandInput, options) =>
      cloudFormation.send(new DescribeAccountLimitsCommand(input), options),
  ),
  getRole: define('iam:GetRole', ({ iam }, input: GetRoleCommandInput, options) =>
    iam.send(new GetRoleCommand(input), options),
  ),
  getPolicy: define('iam:GetPolicy', ({ iam }, input: GetPolicyCommandInput, options) =>
    iam.send(new GetPolicyCommand(input), options),
  ),
  getAccountSummary: define(
    'iam:GetAccountSummary',
    ({ iam }, input: GetAccountSummaryCommandInput, options) =>
      iam.send(new GetAccountSummaryCommand(input), options),
  ),
  simulatePrincipalPolicy: define(
    'iam:SimulatePrincipalPolicy',
    ({ iam }, input: SimulatePrincipalPolicyCommandInput, options) =>
      iam.send(new SimulatePrincipalPolicyCommand(input), options),
  ),
  getAccountSettings: define(
    'lambda:GetAccountSettings',
    ({ lambda }, input: GetAccountSettingsCommandInput, options) =>
      lambda.send(new GetAccountSettingsCommand(input), options),
  ),
  getFunctionConcurrency: define(
    'lambda:GetFunctionConcurrency',
    ({ lambda }, input: GetFunctionConcurrencyCommandInput, options) =>
      lambda.send(new GetFunctionConcurrencyCommand(input), options),
  ),
  getServiceQuota: define(
    'servicequotas:GetServiceQuota',
    ({ serviceQuotas }, input: GetServiceQuotaCommandInput, options) =>
      serviceQuotas.send(new GetServiceQuotaCommand(input), options),
  ),
  getDefaultServiceQuota: define(
    'servicequotas:GetAWSDefaultServiceQuota',
    ({ serviceQuotas }, input: GetAWSDefaultServiceQuotaCommandInput, options) =>
      serviceQuotas.send(new GetAWSDefaultServiceQuotaCommand(input), options),
  ),
  getApiAccount: define('apigateway:GET', ({ apiGateway }, input: GetAccountCommandInput, options) =>
    apiGateway.send(new GetAccountCommand(input), options),
  ),
  getRestApis: define('apigateway:GET', ({ apiGateway }, input: GetRestApisCommandInput, options) =>
    apiGateway.send(new GetRestApisCommand(input), options),
  ),
  getDomainNames: define('apigateway:GET', ({ apiGateway }, input: GetDomainNamesCommandInput, options) =>
    apiGateway.send(new GetDomainNamesCommand(input), options),
  ),
  describeVpcs: define('ec2:DescribeVpcs', ({ ec2 }, input: DescribeVpcsCommandInput, options) =>
    ec2.send(new DescribeVpcsCommand(input), options),
  ),
  describeVpcAttribute: define(
    'ec2:DescribeVpcAttribute',
    ({ ec2 }, input: DescribeVpcAttributeCommandInput, options) =>
      ec2.send(new DescribeVpcAttributeCommand(input), options),
  ),
  describeSubnets: define('ec2:DescribeSubnets', ({ ec2 }, input: DescribeSubnetsCommandInput, options) =>
    ec2.send(new DescribeSubnetsCommand(input), options),
  ),
  describeRouteTables: define(
    'ec2:DescribeRouteTables',
    ({ ec2 }, input: DescribeRouteTablesCommandInput, options) =>
      ec2.send(new DescribeRouteTablesCommand(input), options),
  ),
  describeVpcEndpoints: define(
    'ec2:DescribeVpcEndpoints',
    ({ ec2 }, input: DescribeVpcEndpointsCommandInput, options) =>
      ec2.send(new DescribeVpcEndpointsCommand(input), options),
  ),
  describeVpcEndpointServices: define(
    'ec2:DescribeVpcEndpointServices',
    ({ ec2 }, input: DescribeVpcEndpointServicesCommandInput, options) =>
      ec2.send(new DescribeVpcEndpointServicesCommand(input), options),
  ),
  describeSecurityGroups: define(
    'ec2:DescribeSecurityGroups',
    ({ ec2 }, input: DescribeSecurityGroupsCommandInput, options) =>
      ec2.send(new DescribeSecurityGroupsCommand(input), options),
  ),
  describeNetworkInterfaces: define(
    'ec2:DescribeNetworkInterfaces',
    ({ ec2 }, input: DescribeNetworkInterfacesCommandInput, options) =>
      ec2.send(new DescribeNetworkInterfacesCommand(input), options),
  ),
  describeCertificate: define(
    'acm:DescribeCertificate',
    ({ acm }, input: DescribeCertificateCommandInput, options) =>
      acm.send(new DescribeCertificateCommand(input), options),
  ),
  listHostedZonesByVpc: define(
    'route53:ListHostedZonesByVPC',
    ({ route53 }, input: ListHostedZonesByVPCCommandInput, options) =>
      route53.send(new ListHostedZonesByVPCCommand(input), options),
  ),
  listHostedZonesByName: define(
    'route53:ListHostedZonesByName',
    ({ route53 }, input: ListHostedZonesByNameCommandInput, options) =>
      route53.send(new ListHostedZonesByNameCommand(input), options),
  ),
  describeKey: define('kms:DescribeKey', ({ kms }, input: DescribeKeyCommandInput, options) =>
    kms.send(new DescribeKeyCommand(input), options),
  ),
  getKeyPolicy: define('kms:GetKeyPolicy', ({ kms }, input: GetKeyPolicyCommandInput, options) =>
    kms.send(new GetKeyPolicyCommand(input), options),
  ),
  describeSecret: define(
    'secretsmanager:DescribeSecret',
    ({ secretsManager }, input: DescribeSecretCommandInput, options) =>
      secretsManager.send(new DescribeSecretCommand(input), options),
  ),
  getTopicAttributes: define(
    'sns:GetTopicAttributes',
    ({ sns }, input: GetTopicAttributesCommandInput, options) =>
      sns.send(new GetTopicAttributesCommand(input), options),
  ),
  describeCluster: define('eks:DescribeCluster', ({ eks }, input: DescribeClusterCommandInput, options) =>
    eks.send(new DescribeClusterCommand(input), options),
  ),
  describeTable: define('dynamodb:DescribeTable', ({ dynamoDb }, input: DescribeTableCommandInput, options) =>
    dynamoDb.send(new DescribeTableCommand(input), options),
  ),
  listTables: define('dynamodb:ListTables', ({ dynamoDb }, input: ListTablesCommandInput, options) =>
    dynamoDb.send(new ListTablesCommand(input), options),
  ),
  listQueues: define('sqs:ListQueues', ({ sqs }, input: ListQueuesCommandInput, options) =>
    sqs.send(new ListQueuesCommand(input), options),
  ),
  describeLogGroups: define(
    'logs:DescribeLogGroups',
    ({ logs }, input: DescribeLogGroupsCommandInput, options) =>
      logs.send(new DescribeLogGroupsCommand(input), options),
  ),
  describeLogPolicies: define(
    'logs:DescribeResourcePolicies',
    ({ logs }, input: DescribeResourcePoliciesCommandInput, options) =>
      logs.send(new DescribeResourcePoliciesCommand(input), options),
  ),
  describeEventBus: define(
    'events:DescribeEventBus',
    ({ events }, input: DescribeEventBusCommandInput, options) =>
      events.send(new DescribeEventBusCommand(input), options),
  ),
  listEventBuses: define('events:ListEventBuses', ({ events }, input: ListEventBusesCommandInput, options) =>
    events.send(new ListEventBusesCommand(input), options),
  ),
  listRules: define('events:ListRules', ({ events }, input: ListRulesCommandInput, options) =>
    events.send(new ListRulesCommand(input), options),
  ),
};

/** The operation that reads what is in a secret: called only by whoever asks for it. */
export const secretValueRead = define(
  'secretsmanager:GetSecretValue',
  ({ secretsManager }, input: GetSecretValueCommandInput, options) =>
    secretsManager.send(new GetSecretValueCommand(input), options),
);

function define<Input, Output>(
  action: string,
  send: (clients: AwsClients, input: Input, options: CallOptions) => Promise<Output>,
): AccountRead<Input, Output> {
  return { action, send };
}
