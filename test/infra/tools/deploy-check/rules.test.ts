import { describe, expect, it } from 'vitest';
import { listDomainChecks } from '#infra/tools/deploy-check/domain.ts';
import { listEndpointChecks } from '#infra/tools/deploy-check/endpoint.ts';
import { listIdentityChecks } from '#infra/tools/deploy-check/identity.ts';
import { listLeftoverChecks } from '#infra/tools/deploy-check/leftovers.ts';
import { listNetworkChecks } from '#infra/tools/deploy-check/network.ts';
import { listPermissionChecks } from '#infra/tools/deploy-check/permissions.ts';
import { listQuotaChecks } from '#infra/tools/deploy-check/quotas.ts';
import { listKeyChecks, listResourceChecks } from '#infra/tools/deploy-check/resources.ts';
import { listSecretChecks } from '#infra/tools/deploy-check/secrets.ts';
import { type Answers, ec2, fail, json } from './answer-forms.ts';
import { type LookChanges, look } from './look.ts';
import {
  allowAllBut,
  answerCertificate,
  answerConcurrency,
  answerKey,
  answerRoutes,
  answerStacks,
  answerSubnets,
  answerTopic,
  recorded,
} from './recorded-answers.ts';

/** A case: what differs in the account, and the one row that says so. */
type Case = readonly [what: string, state: string, found: string, changes: LookChanges];

type List = Parameters<typeof look>[0];

/** Each case has its row, with something to do where something is to be mended. */
function expectRows(list: List, cases: readonly Case[]): void {
  it.each(cases)('%s: %s, %s', async (...[what, state, found, changes]) => {
    const rows = await look(list, changes);
    expect(rows).toContainEqual(
      expect.objectContaining({
        ...{ what, state, found: expect.stringContaining(found) },
        ...(state === 'mend' && { next: expect.stringMatching(/./) }),
      }),
    );
  });
}

const role = 'arn:aws:iam::111122223333:role/cdk-hnb659fds-';

/** An answer that says that there is no such thing. */
const missing = (operation: string, code = 'NotFoundException'): Answers => ({
  [operation]: fail(operation, code),
});

describe('account', () => {
  const bootstrap = (Value: string): LookChanges => ({
    answers: { 'ssm:GetParameter': json({ Parameter: { Value } }) },
  });
  expectRows(listIdentityChecks, [
    ['who asks', 'note', 'the root user', { callerArn: 'arn:aws:iam::111122223333:root' }],
    [
      'CDK bootstrap',
      'mend',
      'not bootstrapped',
      { answers: missing('ssm:GetParameter', 'ParameterNotFound') },
    ],
    ['CDK bootstrap', 'mend', 'version 5 is too old: 6 is needed', bootstrap('5')],
    ['CDK bootstrap', 'ok', 'version 6', bootstrap('6')],
  ]);
});

describe('permissions', () => {
  const stacks = [{ name: 'busdriver-prod-x', resources: [{ type: 'AWS::SQS::Queue', properties: {} }] }];
  const queue = 'sqs:CreateQueue on arn:aws:sqs:eu-west-1:111122223333:busdriver-prod-operations';
  const mayAll = 'what CloudFormation must do';
  const callerArn = 'arn:aws:sts::111122223333:federated-user/me';
  expectRows(listPermissionChecks, [
    ['roles of CDK, by whoever asks', 'ok', 'is allowed, as IAM simulates it', {}],
    ['roles of CDK, by whoever asks', 'mend', 'deploy-role', { answers: allowAllBut('sts:AssumeRole') }],
    ['roles of CDK, by whoever asks', 'not checked', `IAM simulates nothing for ${callerArn}`, { callerArn }],
    [mayAll, 'ok', '1 actions are allowed, as IAM simulates it', { stacks }],
    [mayAll, 'mend', queue, { stacks, answers: allowAllBut('sqs:CreateQueue') }],
    [mayAll, 'mend', `no role ${role}cfn-exec-role`, { answers: missing('iam:GetRole', 'NoSuchEntity') }],
  ]);
});

describe('network', () => {
  const [first, second] = recorded.subnetIds;
  const subnet = `subnetIds ${second}`;
  const wayOut = `way out of ${first}`;
  const endpoints = (
    services: readonly string[],
    changes: object = {},
    routeTable = 'rtb-1',
  ): LookChanges => {
    const vpcEndpointSet = services.map((service) => ({
      ...{ serviceName: `com.amazonaws.eu-west-1.${service}`, state: 'available' },
      ...(service === 'dynamodb'
        ? { routeTableIdSet: [routeTable] }
        : { privateDnsEnabled: true, ...changes }),
    }));
    const answer = ec2('DescribeVpcEndpoints', { vpcEndpointSet });
    return { answers: { ...answerRoutes(undefined), 'ec2:DescribeVpcEndpoints': answer } };
  };
  const all = ['dynamodb', 'sqs', 'events', 'secretsmanager', 'sts', 'eks'];
  const off = ec2('DescribeVpcAttribute', { enableDnsSupport: { value: false } });
  const ofOne = { answers: answerSubnets({ availabilityZone: 'eu-west-1a' }) };
  const shared = { vpcEndpointIds: 'vpce-0a1b2c3d4e5f60718', clientCidrs: undefined };
  expectRows(listNetworkChecks, [
    ['vpcId', 'ok', `${recorded.vpcId} is there`, {}],
    ['vpcId', 'mend', 'is not in', { answers: { 'ec2:DescribeVpcs': ec2('DescribeVpcs', { vpcSet: [] }) } }],
    ['vpcId', 'mend', 'enableDnsSupport is off', { answers: { 'ec2:DescribeVpcAttribute': off } }],
    [subnet, 'ok', 'zone eu-west-1b, 251 addresses free', {}],
    [subnet, 'mend', 'is not in this', { answers: answerSubnets({ subnetId: 'subnet-0' }) }],
    [subnet, 'mend', 'is in vpc-2', { answers: answerSubnets({ vpcId: 'vpc-2' }) }],
    [subnet, 'mend', '7 addresses free', { answers: answerSubnets({ availableIpAddressCount: 7 }) }],
    ['subnetIds', 'mend', 'an endpoint takes one subnet a zone', ofOne],
    ['subnetIds', 'note', 'all are in one zone', { ...ofOne, options: shared }],
    [wayOut, 'ok', 'a NAT gateway', {}],
    [wayOut, 'note', 'a transit gateway', { answers: answerRoutes({ transitGatewayId: 'tgw-1' }) }],
    [wayOut, 'mend', 'an internet gateway, which', { answers: answerRoutes({ gatewayId: 'igw-1' }) }],
    [wayOut, 'note', 'no way to the internet; endpoints of all services', endpoints(all)],
    [wayOut, 'mend', 'no way to the internet, and no endpoint of eks', endpoints(all.slice(0, -1))],
    [wayOut, 'mend', 'sqs, events, secretsmanager, sts, eks', endpoints(all, { state: 'pending' })],
    [wayOut, 'mend', 'sqs, events, secretsmanager, sts, eks', endpoints(all, { privateDnsEnabled: false })],
    [wayOut, 'mend', 'and no endpoint of dynamodb', endpoints(all, {}, 'rtb-2')],
  ]);
});

describe('endpoint', () => {
  const id = 'vpce-0a1b2c3d4e5f60718';
  const endpointOf = (service: string, state: string): LookChanges => {
    const endpoint = { serviceName: `com.amazonaws.eu-west-1.${service}`, state, vpcId: 'vpc-1' };
    const answer = ec2('DescribeVpcEndpoints', { vpcEndpointSet: [endpoint] });
    return { answers: { 'ec2:DescribeVpcEndpoints': answer }, options };
  };
  const options = { vpcEndpointIds: id, clientCidrs: undefined };
  const other = { vpcEndpointIds: `222233334444/${id}` };
  expectRows(listEndpointChecks, [
    [`vpcEndpointIds ${id}`, 'ok', 'available, in vpc-1', endpointOf('execute-api', 'available')],
    [`vpcEndpointIds ${id}`, 'mend', 'is pending', endpointOf('execute-api', 'pending')],
    [`vpcEndpointIds ${id}`, 'mend', 'not for execute-api', endpointOf('sqs', 'available')],
    [`vpcEndpointIds ${id}`, 'mend', 'is not in this account and region', { options }],
    [`vpcEndpointIds ${id}`, 'not checked', 'is of account 222233334444', { options: other }],
  ]);
});

describe('domain', () => {
  const certificate = (changes: object): LookChanges => ({ answers: answerCertificate(changes) });
  const forNames = (...SubjectAlternativeNames: string[]) => certificate({ SubjectAlternativeNames });
  const soon = { NotAfter: Math.floor(Date.now() / 1000) + 29 * 24 * 3600 };
  const elsewhere = { certificateArn: recorded.certificateArn.replace('eu-west-1', 'us-east-1') };
  const taken = (type: string): Answers => {
    const item = [{ domainName: recorded.domainName, endpointConfiguration: { types: [type] } }];
    return { 'apigateway:GetDomainNames': json({ item }) };
  };
  const api = { name: 'busdriver-prod-api', resources: [] };
  const ours = { ...taken('PRIVATE'), ...answerStacks({ 'busdriver-prod-api': 'UPDATE_COMPLETE' }) };
  expectRows(listDomainChecks, [
    ['certificateArn', 'ok', 'ISSUED, for *.example.com, ', {}],
    ['certificateArn', 'ok', 'ISSUED', forNames(recorded.domainName)],
    ['certificateArn', 'mend', 'is for *.com, not for clouddriver.example.com', forNames('*.com')],
    ['certificateArn', 'mend', 'is for example.com', forNames('example.com')],
    ['certificateArn', 'mend', 'PENDING_VALIDATION', certificate({ Status: 'PENDING_VALIDATION' })],
    ['certificateArn', 'mend', 'EXPIRED', certificate({ Status: 'EXPIRED' })],
    ['certificateArn', 'mend', 'AWS does not renew it', certificate(soon)],
    ['certificateArn', 'ok', 'AWS renews it', certificate({ ...soon, RenewalEligibility: 'ELIGIBLE' })],
    ['certificateArn', 'mend', 'there is none', { answers: missing('acm:DescribeCertificate') }],
    ['certificateArn', 'mend', 'is in us-east-1', { options: elsewhere }],
    ['domainName', 'ok', 'is not taken', {}],
    ['domainName', 'ok', 'is not taken', { answers: taken('REGIONAL') }],
    ['domainName', 'mend', 'has the private name clouddriver.example.com', { answers: taken('PRIVATE') }],
    ['domainName', 'ok', 'and so is busdriver-prod-api', { stacks: [api], answers: ours }],
    ['domainName', 'note', 'none', { options: { domainName: undefined, certificateArn: undefined } }],
  ]);
});

describe('key', () => {
  const key = (changes: object): LookChanges => ({ answers: answerKey(changes) });
  const elsewhere = { encryptionKeyArn: recorded.keyArn.replace('eu-west-1', 'us-east-1') };
  expectRows(listKeyChecks, [
    ['encryptionKeyArn', 'ok', 'Enabled', {}],
    ['encryptionKeyArn', 'mend', 'is Disabled', key({ KeyState: 'Disabled' })],
    ['encryptionKeyArn', 'mend', 'is RSA_2048', key({ KeySpec: 'RSA_2048' })],
    ['encryptionKeyArn', 'mend', 'no such key', { answers: missing('kms:DescribeKey') }],
    ['encryptionKeyArn', 'mend', 'is in us-east-1', { options: elsewhere }],
  ]);
});

describe('secrets', () => {
  const name = 'configSecretArn spinnaker/clouddriver';
  const described = (value: object): LookChanges => ({
    answers: { 'secretsmanager:DescribeSecret': json(value) },
  });
  expectRows(
    (subject) => listSecretChecks(subject, false),
    [
      [name, 'ok', 'is there', {}],
      [name, 'mend', 'was deleted on 2026-01-01', described({ DeletedDate: 1_767_225_600 })],
      [name, 'mend', 'no such secret', { answers: missing('secretsmanager:DescribeSecret') }],
    ],
  );

  it.each([
    { option: 'configSecretArn', value: 'kubernetes: {enabled: true}', state: 'ok' },
    { option: 'configSecretArn', value: 'kubernetes: [pa55word', state: 'mend' },
    { option: 'authorizerSecretArn', value: 'pa55word', state: 'mend' },
    { option: 'authorizerSecretArn', value: 'pa55word-pa55word', state: 'ok' },
  ])('the value of $option is judged, and not shown: $state', async ({ option, value, state }) => {
    const answers = { 'secretsmanager:GetSecretValue': json({ SecretString: value }) };
    const options = { [option]: recorded.secretArn };
    const rows = await look((subject) => listSecretChecks(subject, true), { answers, options });
    expect(rows.find(({ what }) => what === `value of ${option}`)?.state).toBe(state);
    expect(JSON.stringify(rows)).not.toContain('pa55word');
  });
});

describe('named by options', () => {
  const topic = (attributes: { readonly [name: string]: string }) => ({ answers: answerTopic(attributes) });
  const cloudwatchRoleArn = 'arn:aws:iam::111122223333:role/logs';
  const taken = { 'apigateway:GetAccount': json({ cloudwatchRoleArn }) };
  const gone = { ...taken, ...missing('iam:GetRole', 'NoSuchEntity') };
  const existing = { apiLogRole: 'existing' };
  expectRows(listResourceChecks, [
    ['alarmTopicArn', 'ok', '2 subscriptions', {}],
    ['alarmTopicArn', 'note', 'nobody has subscribed', topic({ SubscriptionsConfirmed: '0' })],
    ['alarmTopicArn', 'mend', 'lets no alarm publish', topic({ KmsMasterKeyId: 'alias/aws/sns' })],
    ['alarmTopicArn', 'mend', 'no such topic', { answers: missing('sns:GetTopicAttributes', 'NotFound') }],
    ['alarmTopicArn', 'note', 'no alarm notifies anyone', { options: { alarmTopicArn: undefined } }],
    ['permissionsBoundaryArn', 'ok', 'is there', {}],
    [
      'permissionsBoundaryArn',
      'mend',
      'no such policy',
      { answers: missing('iam:GetPolicy', 'NoSuchEntity') },
    ],
    ['apiLogRole', 'ok', 'one is made', {}],
    ['apiLogRole', 'mend', 'the region has none', { options: existing }],
    ['apiLogRole', 'note', 'would be replaced', { answers: taken }],
    ['apiLogRole', 'ok', cloudwatchRoleArn, { answers: taken, options: existing }],
    ['apiLogRole', 'mend', 'IAM does not have it', { answers: gone }],
  ]);
});

describe('quotas', () => {
  const resources = [
    ...[1, 2].map(() => ({ type: 'AWS::IAM::Role', properties: {} })),
    { type: 'AWS::Logs::ResourcePolicy', properties: {} },
    {
      type: 'AWS::Lambda::Function',
      properties: { FunctionName: 'operations', ReservedConcurrentExecutions: 20 },
    },
  ];
  const stacks = [{ name: 'busdriver-prod-x', resources }];
  const full = json({ resourcePolicies: Array.from({ length: 10 }, () => ({ policyName: 'other' })) });
  const installed = (status: string) => answerStacks({ 'busdriver-prod-x': status });
  const ofLambda = 'concurrent executions of Lambda';
  const upgrade = { 'lambda:GetFunctionConcurrency': json({ ReservedConcurrentExecutions: 20 }) };
  expectRows(listQuotaChecks, [
    [ofLambda, 'ok', '20 to be reserved', { stacks, answers: answerConcurrency(1000, 1000) }],
    [ofLambda, 'ok', '100 are left', { stacks, answers: answerConcurrency(120, 120) }],
    [ofLambda, 'mend', 'must keep 100 for the others', { stacks, answers: answerConcurrency(119, 119) }],
    [ofLambda, 'ok', '120 not reserved', { stacks, answers: { ...answerConcurrency(120, 100), ...upgrade } }],
    ['storage of Lambda, GB', 'ok', '1 of 80.5 used, 0 needed', {}],
    ['roles of IAM', 'ok', '120 of 1000 used, 2 needed', { stacks }],
    ['roles of IAM', 'ok', ' 0 needed', { stacks, answers: installed('UPDATE_COMPLETE') }],
    ['roles of IAM', 'ok', ' 2 needed', { stacks, answers: installed('ROLLBACK_COMPLETE') }],
    [
      'resource policies of CloudWatch Logs',
      'mend',
      '10 of 10 used, 1 needed',
      { stacks, answers: { 'logs:DescribeResourcePolicies': full } },
    ],
  ]);

  it('say with how many operations at once it would do', async () => {
    const rows = await look(listQuotaChecks, { stacks, answers: answerConcurrency(110, 110) });
    expect(rows.find(({ what }) => what === ofLambda)?.next).toContain('-c concurrency=operations=10');
  });
});

describe('leftovers', () => {
  const stack = 'stack busdriver-prod-data';
  const status = (StackStatus: string) => ({ answers: answerStacks({ 'busdriver-prod-data': StackStatus }) });
  const tables = Array.from({ length: 8 }, (_, index) => ({
    type: 'AWS::DynamoDB::Table',
    properties: { TableName: `table-${index}` },
  }));
  const secret = { type: 'AWS::SecretsManager::Secret', properties: { Name: 'config' } };
  const group = { type: 'AWS::Logs::LogGroup', properties: { LogGroupName: '/aws/lambda/x' } };
  const stacks = [{ name: 'busdriver-prod-x', resources: [...tables, secret, group] }];
  const answers: Answers = {
    'dynamodb:DescribeTable': json({ Table: {} }),
    'secretsmanager:DescribeSecret': json({ DeletedDate: 1_767_225_600 }),
    'logs:DescribeLogGroups': (body) =>
      json(
        body.includes('page 2')
          ? { logGroups: [{ logGroupName: '/aws/lambda/x' }] }
          : { nextToken: 'page 2' },
      ),
  };
  expectRows(listLeftoverChecks, [
    ['stack', 'ok', 'a first deploy', {}],
    [stack, 'ok', 'UPDATE_COMPLETE', status('UPDATE_COMPLETE')],
    [stack, 'note', 'UPDATE_ROLLBACK_COMPLETE', status('UPDATE_ROLLBACK_COMPLETE')],
    [stack, 'note', 'REVIEW_IN_PROGRESS', status('REVIEW_IN_PROGRESS')],
    [stack, 'mend', 'UPDATE_IN_PROGRESS', status('UPDATE_IN_PROGRESS')],
    [stack, 'mend', 'ROLLBACK_COMPLETE', status('ROLLBACK_COMPLETE')],
    [stack, 'mend', 'UPDATE_ROLLBACK_FAILED', status('UPDATE_ROLLBACK_FAILED')],
    [stack, 'mend', 'DELETE_FAILED', status('DELETE_FAILED')],
    ['table', 'ok', 'none', { stacks }],
    ['table table-0', 'mend', 'no stack has it', { stacks, answers }],
    ['table', 'mend', 'and 3 more', { stacks, answers }],
    ['secret config', 'mend', 'no stack has it', { stacks, answers }],
    ['log group /aws/lambda/x', 'mend', 'no stack has it', { stacks, answers }],
  ]);
});
