import { type Answers, ec2, fail, json, query } from './answer-forms.ts';

/** The account, its region and what it has. */
export const recorded = {
  account: '111122223333',
  region: 'eu-west-1',
  vpcId: 'vpc-0a1b2c3d4e5f60718',
  subnetIds: ['subnet-0a1b2c3d4e5f60718', 'subnet-0b1c2d3e4f5a60718'],
  domainName: 'clouddriver.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/7f3a2b1c-0000-4000-8000-000000000000',
  keyArn: 'arn:aws:kms:eu-west-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef',
  secretArn: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:spinnaker/clouddriver-AbCdEf',
  topicArn: 'arn:aws:sns:eu-west-1:111122223333:oncall',
  boundaryArn: 'arn:aws:iam::111122223333:policy/boundary',
} as const;

/** Subnets, in two zones and with addresses left, but for what `changes` say of the second one. */
export function answerSubnets(changes: { readonly [name: string]: string | number } = {}): Answers {
  const [first, second] = recorded.subnetIds;
  const subnet = { vpcId: recorded.vpcId, availableIpAddressCount: 251 };
  const subnetSet = [
    { ...subnet, subnetId: first, availabilityZone: 'eu-west-1a' },
    { ...subnet, subnetId: second, availabilityZone: 'eu-west-1b', ...changes },
  ];
  return { 'ec2:DescribeSubnets': ec2('DescribeSubnets', { subnetSet }) };
}

/** The one route table of the VPC, with a default route by one of its targets, such as `{ gatewayId: 'igw-1' }`, or none. */
export function answerRoutes(target: { readonly [name: string]: string } | undefined): Answers {
  const local = { destinationCidrBlock: '10.20.0.0/16', gatewayId: 'local', state: 'active' };
  const table = {
    routeTableId: 'rtb-1',
    routeSet: [local, ...(target ? [{ destinationCidrBlock: '0.0.0.0/0', state: 'active', ...target }] : [])],
    associationSet: [{ main: true }],
  };
  return { 'ec2:DescribeRouteTables': ec2('DescribeRouteTables', { routeTableSet: [table] }) };
}

/** Stacks by name, with their status; others do not exist. */
export function answerStacks(statuses: { readonly [name: string]: string }): Answers {
  const operation = 'cloudformation:DescribeStacks';
  return {
    [operation](body) {
      const StackName = new URLSearchParams(body).get('StackName') ?? '';
      const StackStatus = statuses[StackName];
      if (StackStatus === undefined)
        return fail(operation, 'ValidationError', { Message: `Stack with id ${StackName} does not exist` });
      const CreationTime = '2026-01-01T00:00:00Z';
      return query('DescribeStacks', { Stacks: [{ StackName, StackStatus, CreationTime }] });
    },
  };
}

/** What IAM's simulation answers: all is allowed, but for some actions. */
export function allowAllBut(...denied: readonly string[]): Answers {
  return {
    'iam:SimulatePrincipalPolicy'(body) {
      const form = [...new URLSearchParams(body)].filter(([name]) => name.startsWith('ActionNames.'));
      const EvaluationResults = form.map(([, EvalActionName]) => ({
        EvalActionName,
        EvalDecision: denied.includes(EvalActionName) ? 'implicitDeny' : 'allowed',
      }));
      return query('SimulatePrincipalPolicy', { IsTruncated: false, EvaluationResults });
    },
  };
}

/** A certificate that is issued for all names of example.com, but for what `changes` say. */
export function answerCertificate(changes: object = {}): Answers {
  const SubjectAlternativeNames = ['*.example.com'];
  const Certificate = { Status: 'ISSUED', SubjectAlternativeNames, NotAfter: 4_102_444_800, ...changes };
  return { 'acm:DescribeCertificate': json({ Certificate }) };
}

/** The operator's key, but for what `changes` say. */
export function answerKey(changes: object = {}): Answers {
  const key = { KeyId: '0123', KeyState: 'Enabled', KeySpec: 'SYMMETRIC_DEFAULT' };
  return { 'kms:DescribeKey': json({ KeyMetadata: { ...key, KeyUsage: 'ENCRYPT_DECRYPT', ...changes } }) };
}

/** Attributes of the operator's topic. */
export function answerTopic(attributes: { readonly [name: string]: string }): Answers {
  const entries = Object.entries(attributes).map(
    ([key, value]) => `<entry><key>${key}</key><value>${value}</value></entry>`,
  );
  const answer = query('GetTopicAttributes', { Attributes: entries.join('') });
  return { 'sns:GetTopicAttributes': answer };
}

/** Lambda's quotas, of which no function of ours has a reserve yet. */
export function answerConcurrency(limit: number, unreserved: number): Answers {
  const ofConcurrency = { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: unreserved };
  return {
    'lambda:GetAccountSettings': json({
      AccountLimit: { TotalCodeSize: 80_530_636_800, ...ofConcurrency },
      AccountUsage: { TotalCodeSize: 1_000_000_000, FunctionCount: 12 },
    }),
  };
}

/** The operator's secret is there under its ARN, and none under a name of ours. */
function findSecret(body: string) {
  if (body.includes(recorded.secretArn)) return json({ ARN: recorded.secretArn });
  return fail('secretsmanager:DescribeSecret', 'ResourceNotFoundException');
}

/** An account that is ready for a first deploy. */
export const recordedAnswers: Answers = {
  'sts:GetCallerIdentity': query('GetCallerIdentity', {
    Arn: `arn:aws:sts::${recorded.account}:assumed-role/deployer/me`,
    Account: recorded.account,
  }),
  'ssm:GetParameter': json({ Parameter: { Type: 'String', Value: '30' } }),
  ...answerStacks({}),
  'iam:GetRole'(body) {
    const RoleName = new URLSearchParams(body).get('RoleName');
    const Arn = `arn:aws:iam::${recorded.account}:role/${RoleName}`;
    return query('GetRole', { Role: { Path: '/', RoleName, Arn, CreateDate: '2026-01-01T00:00:00Z' } });
  },
  'iam:GetPolicy': query('GetPolicy', { Policy: { Arn: recorded.boundaryArn } }),
  'iam:GetAccountSummary': query('GetAccountSummary', {
    SummaryMap:
      '<entry><key>Roles</key><value>120</value></entry><entry><key>RolesQuota</key><value>1000</value></entry>',
  }),
  ...allowAllBut(),
  ...answerConcurrency(1000, 980),
  'lambda:GetFunctionConcurrency': fail('lambda:GetFunctionConcurrency', 'ResourceNotFoundException'),
  'apigateway:GetAccount': json({ throttleSettings: { burstLimit: 5000, rateLimit: 10000 } }),
  'apigateway:GetDomainNames': json({ item: [] }),
  'ec2:DescribeVpcs': ec2('DescribeVpcs', { vpcSet: [{ vpcId: recorded.vpcId }] }),
  'ec2:DescribeVpcAttribute'(body) {
    const attribute = new URLSearchParams(body).get('Attribute') ?? '';
    return ec2('DescribeVpcAttribute', { [attribute]: { value: true } });
  },
  ...answerSubnets(),
  ...answerRoutes({ natGatewayId: 'nat-0a1b2c3d' }),
  'ec2:DescribeVpcEndpoints': ec2('DescribeVpcEndpoints', { vpcEndpointSet: [] }),
  ...answerCertificate(),
  ...answerKey(),
  'secretsmanager:DescribeSecret': findSecret,
  'secretsmanager:GetSecretValue': json({ SecretString: 'kubernetes: {enabled: true, accounts: []}' }),
  ...answerTopic({ SubscriptionsConfirmed: '2' }),
  'dynamodb:DescribeTable': fail('dynamodb:DescribeTable', 'ResourceNotFoundException'),
  'logs:DescribeLogGroups': json({ logGroups: [] }),
  'logs:DescribeResourcePolicies': json({ resourcePolicies: [{ policyName: 'other' }] }),
};
