import { type Answers, fail } from './answer-forms.ts';

/** The account, its region and what it has. */
export const recorded = {
  account: '111122223333',
  region: 'eu-west-1',
  vpcId: 'vpc-0a1b2c3d4e5f60718',
  subnetIds: ['subnet-0a1b2c3d4e5f60718', 'subnet-0b1c2d3e4f5a60718'],
  endpointId: 'vpce-0a1b2c3d4e5f60718',
  domainName: 'clouddriver.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/7f3a2b1c-0000-4000-8000-000000000000',
  keyArn: 'arn:aws:kms:eu-west-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef',
  secretArn: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:spinnaker/clouddriver-AbCdEf',
  topicArn: 'arn:aws:sns:eu-west-1:111122223333:oncall',
  boundaryArn: 'arn:aws:iam::111122223333:policy/boundary',
  clusterArn: 'arn:aws:eks:eu-west-1:111122223333:cluster/shop',
  roleArn: 'arn:aws:iam::111122223333:role/busdriver-clusters',
} as const;

const json = (value: unknown) => ({ body: JSON.stringify(value) });
const xml = (action: string, content: string) => ({
  body: `<${action}Response><${action}Result>${content}</${action}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></${action}Response>`,
});

/** EC2 has no element around what it answers. */
export function ec2(action: string, content: string): { readonly body: string } {
  return {
    body: `<${action}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>1</requestId>${content}</${action}Response>`,
  };
}

/** A subnet, as EC2 writes it. */
export function toSubnet(
  id: string,
  zone: string,
  { free = 251, vpcId = recorded.vpcId as string } = {},
): string {
  return `<item><subnetId>${id}</subnetId><vpcId>${vpcId}</vpcId><state>available</state><availabilityZone>${zone}</availabilityZone>
    <availableIpAddressCount>${free}</availableIpAddressCount></item>`;
}

const natTable = `<item><routeTableId>rtb-0a1b2c3d</routeTableId><vpcId>${recorded.vpcId}</vpcId>
  <routeSet>
    <item><destinationCidrBlock>10.20.0.0/16</destinationCidrBlock><gatewayId>local</gatewayId><state>active</state></item>
    <item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><natGatewayId>nat-0a1b2c3d</natGatewayId><state>active</state></item>
  </routeSet>
  <associationSet><item><main>true</main></item></associationSet></item>`;

/** A quota, as Service Quotas writes it. */
export function toQuota(value: number): { readonly body: string } {
  return json({ Quota: { ServiceCode: 'x', QuotaCode: 'L-1', Value: value, Adjustable: true } });
}

const missingStack = (body: string) => {
  const name = new URLSearchParams(body).get('StackName');
  if (name === null) {
    return xml('DescribeStacks', `<Stacks>${toStack('CDKToolkit', 'UPDATE_COMPLETE')}</Stacks>`);
  }
  if (name === 'CDKToolkit') {
    return xml('DescribeStacks', `<Stacks>${toStack(name, 'UPDATE_COMPLETE')}</Stacks>`);
  }
  const message = `Stack with id ${name} does not exist`;
  return fail('cloudformation:DescribeStacks', { code: 'ValidationError', message });
};

/** A stack, as CloudFormation writes it. */
export function toStack(name: string, status: string): string {
  return `<member><StackName>${name}</StackName><StackStatus>${status}</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime></member>`;
}

/** Answers DescribeStacks for stacks by name; other names do not exist. */
export function withStacks(stacks: { readonly [name: string]: string }): Answers {
  return {
    'cloudformation:DescribeStacks': (body) => {
      const name = new URLSearchParams(body).get('StackName') ?? '';
      const status = stacks[name];
      return status === undefined
        ? missingStack(body)
        : xml('DescribeStacks', `<Stacks>${toStack(name, status)}</Stacks>`);
    },
  };
}

/** What IAM's simulation answers: all is allowed, but for some actions. */
export function allowAllBut(...denied: readonly string[]): Answers {
  return {
    'iam:SimulatePrincipalPolicy': (body) => {
      const form = new URLSearchParams(body);
      const actions = [...form].filter(([name]) => name.startsWith('ActionNames.')).map(([, value]) => value);
      const members = actions.map(
        (action) =>
          `<member><EvalActionName>${action}</EvalActionName><EvalDecision>${denied.includes(action) ? 'implicitDeny' : 'allowed'}</EvalDecision></member>`,
      );
      return xml(
        'SimulatePrincipalPolicy',
        `<IsTruncated>false</IsTruncated><EvaluationResults>${members.join('')}</EvaluationResults>`,
      );
    },
  };
}

const toRole = (body: string) => {
  const name = new URLSearchParams(body).get('RoleName') ?? '';
  const arn = `arn:aws:iam::${recorded.account}:role/${name}`;
  return xml(
    'GetRole',
    `<Role><Path>/</Path><RoleName>${name}</RoleName><RoleId>AROA</RoleId><Arn>${arn}</Arn><CreateDate>2026-01-01T00:00:00Z</CreateDate></Role>`,
  );
};

const missing = (operation: string, code: string) => fail(operation, { code, message: 'it is not found' });

const keyPolicy = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Principal: { AWS: `arn:aws:iam::${recorded.account}:root` },
      Action: 'kms:*',
      Resource: '*',
    },
  ],
};

/** A key that is there under its ARN, and under no alias. */
const toKey = (body: string) => {
  if (body.includes('alias/')) return missing('kms:DescribeKey', 'NotFoundException');
  return json({
    KeyMetadata: {
      KeyId: '0123',
      KeyState: 'Enabled',
      KeySpec: 'SYMMETRIC_DEFAULT',
      KeyUsage: 'ENCRYPT_DECRYPT',
    },
  });
};

/** A secret that is there under its ARN, and none under a name of ours. */
const toSecret = (body: string) =>
  body.includes(recorded.secretArn)
    ? json({ ARN: recorded.secretArn, Name: 'spinnaker/clouddriver' })
    : missing('secretsmanager:DescribeSecret', 'ResourceNotFoundException');

/** CDK's version is there, and no parameter of ours. */
const toParameter = (body: string) =>
  body.includes('/cdk-bootstrap/')
    ? json({ Parameter: { Name: '/cdk-bootstrap/hnb659fds/version', Type: 'String', Value: '30' } })
    : missing('ssm:GetParameter', 'ParameterNotFound');

/** An account that is ready for a first deploy. */
export const recordedAnswers: Answers = {
  'sts:GetCallerIdentity': xml(
    'GetCallerIdentity',
    `<Arn>arn:aws:sts::${recorded.account}:assumed-role/deployer/me</Arn><UserId>AROA:me</UserId><Account>${recorded.account}</Account>`,
  ),
  'ssm:GetParameter': toParameter,
  'cloudformation:DescribeStacks': missingStack,
  'cloudformation:DescribeAccountLimits': xml(
    'DescribeAccountLimits',
    '<AccountLimits><member><Name>StackLimit</Name><Value>2000</Value></member></AccountLimits>',
  ),
  'iam:GetRole': toRole,
  'iam:GetPolicy': xml(
    'GetPolicy',
    `<Policy><PolicyName>boundary</PolicyName><Arn>${recorded.boundaryArn}</Arn></Policy>`,
  ),
  'iam:GetAccountSummary': xml(
    'GetAccountSummary',
    `<SummaryMap><entry><key>Roles</key><value>120</value></entry><entry><key>RolesQuota</key><value>1000</value></entry>
     <entry><key>Policies</key><value>30</value></entry><entry><key>PoliciesQuota</key><value>1500</value></entry></SummaryMap>`,
  ),
  ...allowAllBut(),
  'lambda:GetAccountSettings': json({
    AccountLimit: {
      TotalCodeSize: 80_530_636_800,
      ConcurrentExecutions: 1000,
      UnreservedConcurrentExecutions: 980,
    },
    AccountUsage: { TotalCodeSize: 1_000_000, FunctionCount: 12 },
  }),
  'lambda:GetFunctionConcurrency': missing('lambda:GetFunctionConcurrency', 'ResourceNotFoundException'),
  'servicequotas:GetServiceQuota': toQuota(300),
  'servicequotas:GetAWSDefaultServiceQuota': toQuota(300),
  'apigateway:GetAccount': json({ throttleSettings: { burstLimit: 5000, rateLimit: 10000 } }),
  'apigateway:GetRestApis': json({ item: [] }),
  'apigateway:GetDomainNames': json({ item: [] }),
  'ec2:DescribeVpcs': ec2('DescribeVpcs', `<vpcSet><item><vpcId>${recorded.vpcId}</vpcId></item></vpcSet>`),
  'ec2:DescribeVpcAttribute': (body) => {
    const attribute = new URLSearchParams(body).get('Attribute') ?? '';
    const content = `<vpcId>${recorded.vpcId}</vpcId><${attribute}><value>true</value></${attribute}>`;
    return ec2('DescribeVpcAttribute', content);
  },
  'ec2:DescribeSubnets': ec2(
    'DescribeSubnets',
    `<subnetSet>${toSubnet(recorded.subnetIds[0], 'eu-west-1a')}${toSubnet(recorded.subnetIds[1], 'eu-west-1b')}</subnetSet>`,
  ),
  'ec2:DescribeRouteTables': ec2('DescribeRouteTables', `<routeTableSet>${natTable}</routeTableSet>`),
  'ec2:DescribeVpcEndpoints': ec2('DescribeVpcEndpoints', '<vpcEndpointSet/>'),
  'ec2:DescribeVpcEndpointServices': ec2(
    'DescribeVpcEndpointServices',
    `<serviceNameSet><item>com.amazonaws.eu-west-1.execute-api</item></serviceNameSet>
     <serviceDetailSet><item><serviceName>com.amazonaws.eu-west-1.execute-api</serviceName>
       <availabilityZoneSet><item>eu-west-1a</item><item>eu-west-1b</item></availabilityZoneSet></item></serviceDetailSet>`,
  ),
  'ec2:DescribeSecurityGroups': ec2('DescribeSecurityGroups', '<securityGroupInfo/>'),
  'ec2:DescribeNetworkInterfaces': ec2('DescribeNetworkInterfaces', '<networkInterfaceSet/>'),
  'acm:DescribeCertificate': json({
    Certificate: {
      CertificateArn: recorded.certificateArn,
      DomainName: '*.example.com',
      SubjectAlternativeNames: ['*.example.com'],
      Status: 'ISSUED',
      Type: 'AMAZON_ISSUED',
      RenewalEligibility: 'ELIGIBLE',
      NotAfter: 4_102_444_800,
    },
  }),
  'route53:ListHostedZonesByVPC': {
    body: `<?xml version="1.0"?><ListHostedZonesByVPCResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><HostedZoneSummaries>
      <HostedZoneSummary><HostedZoneId>Z1</HostedZoneId><Name>${recorded.domainName}.</Name><Owner><OwningAccount>${recorded.account}</OwningAccount></Owner></HostedZoneSummary>
      </HostedZoneSummaries><MaxItems>100</MaxItems></ListHostedZonesByVPCResponse>`,
  },
  'kms:DescribeKey': toKey,
  'kms:GetKeyPolicy': json({ Policy: JSON.stringify(keyPolicy), PolicyName: 'default' }),
  'secretsmanager:DescribeSecret': toSecret,
  'secretsmanager:GetSecretValue': json({
    ARN: recorded.secretArn,
    SecretString: 'kubernetes: {enabled: true, accounts: []}',
  }),
  'sns:GetTopicAttributes': xml(
    'GetTopicAttributes',
    '<Attributes><entry><key>SubscriptionsConfirmed</key><value>2</value></entry></Attributes>',
  ),
  'eks:DescribeCluster': json({ cluster: { name: 'shop', status: 'ACTIVE' } }),
  'dynamodb:DescribeTable': missing('dynamodb:DescribeTable', 'ResourceNotFoundException'),
  'dynamodb:ListTables': json({ TableNames: ['one', 'two'] }),
  'sqs:ListQueues': json({}),
  'logs:DescribeLogGroups': json({ logGroups: [] }),
  'logs:DescribeResourcePolicies': json({ resourcePolicies: [{ policyName: 'other' }] }),
  'events:DescribeEventBus': missing('events:DescribeEventBus', 'ResourceNotFoundException'),
  'events:ListEventBuses': json({ EventBuses: [{ Name: 'default' }] }),
  'events:ListRules': json({ Rules: [{ Name: 'one' }] }),
};
