import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RootConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import type { Context } from '#infra/aws/context/context.ts';
import { ContextError, contextOptions, readContext } from '#infra/aws/context/context-options.ts';
import { decideAuthentication, listEndpoints } from '#infra/aws/context/context-rules.ts';
import type { Destination } from '#infra/aws/context/destination.ts';
import { root } from '#test/architecture/source-files.ts';
import { type Options, privateOptions } from '../stacks/synthesize.ts';

const secretArn = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker-AbCdEf';
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0123';
const domain = { domainName: 'clouddriver.example.com', certificateArn };

function read(options: Options, destination?: Destination): Context {
  const construct = new RootConstruct();
  for (const [name, value] of Object.entries(options)) construct.node.setContext(name, value);
  return readContext(construct, destination);
}

function list(count: number, toItem: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => toItem(index)).join(',');
}

/** The lines of the refusal, without the first. */
function getProblems(options: Options, destination?: Destination): string[] {
  try {
    read(options, destination);
  } catch (error) {
    if (!(error instanceof ContextError)) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
  return [];
}

describe('readContext', () => {
  it('needs no more than an endpoint, and who may call', () => {
    const context = read({ vpcEndpointIds: 'vpce-0123456789abcdef0', authentication: 'secret' });
    expect(context).toMatchObject({
      stage: 'dev',
      namePrefix: 'busdriver',
      publicApi: false,
      protectData: true,
      logRetentionDays: 30,
      logLevel: 'INFO',
      profiles: ['local'],
      apiLogRole: 'create',
    });
    expect(context.concurrency.size).toBe(0);
  });

  it('takes text from the command line as it takes values from cdk.json', () => {
    const fromLine = { ...privateOptions, protectData: 'false', logRetentionDays: '7' };
    const fromFile = {
      ...privateOptions,
      subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
      protectData: false,
      logRetentionDays: 7,
    };
    expect(read(fromFile)).toEqual(read(fromLine));
    expect(read(fromLine).subnetIds).toHaveLength(2);
  });

  it('takes secrets of accounts in Secrets Manager, S3 and Parameter Store', () => {
    const accountSecretArns = [
      secretArn,
      'arn:aws:s3:::team-secrets/shop/ca.pem',
      'arn:aws-cn:ssm:cn-north-1:123456789012:parameter/shop/token',
    ];
    const accountSecretArnPrefixes = [
      'arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker/',
      'arn:aws:s3:::team-secrets/',
      'arn:aws:s3:::team-secrets/spinnaker/',
      'arn:aws:ssm:us-east-1:123456789012:parameter/spinnaker/',
    ];
    const context = read({ ...privateOptions, accountSecretArns, accountSecretArnPrefixes });
    expect(context).toMatchObject({ accountSecretArns, accountSecretArnPrefixes });
  });

  it('reads the concurrency of queues by name', () => {
    const { concurrency } = read({ ...privateOptions, concurrency: 'operations=7' });
    expect([...concurrency]).toEqual([['operations', 7]]);
  });

  it('tells all that is wrong at once', () => {
    const problems = getProblems({ vpcId: 'my-vpc', logLevel: 'LOUD', logRetentionDays: 8, publicAPI: true });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'publicAPI',
      'vpcId',
      'logRetentionDays',
      'logLevel',
    ]);
  });

  it('tells what an unknown option was probably meant to be', () => {
    const [problem] = getProblems({ ...privateOptions, authenticaton: 'iam' });
    expect(problem).toMatch(/^authenticaton: did you mean 'authentication'\? Expected one of stage, /);
    expect(getProblems({ ...privateOptions, zebra: 1 })).toEqual([
      expect.stringMatching(/^zebra: Expected one of stage, /),
    ]);
  });

  it('leaves the keys of CDK alone', () => {
    const options = {
      ...privateOptions,
      '@aws-cdk/core:x': true,
      'cli-telemetry': false,
      'ami:account=1': 'a',
    };
    expect(getProblems(options)).toEqual([]);
  });
});

describe('an option of another form is refused with what was expected', () => {
  const cases: readonly (readonly [name: string, value: unknown, expected: RegExp])[] = [
    ['stage', 'Prod', /lower-case letters/],
    ['stage', 'a-very-long-stage', /at most 12/],
    ['stage', 'prod-', /lower-case letters/],
    ['subnetIds', 'subnet-0123456789abcdef0,', /subnet-/],
    ['vpcEndpointIds', 'vpc-0123456789abcdef0', /vpce-/],
    ['vpcEndpointIds', '2109/vpce-0123456789abcdef0', /111122223333\/vpce-/],
    ['clientCidrs', '10.0.0.0', /10\.20\.0\.0\/16/],
    ['clientCidrs', '10.0.0.256/8', /10\.20\.0\.0\/16/],
    ['clientCidrs', '10.0.0.0/33', /10\.20\.0\.0\/16/],
    ['clientCidrs', '10.0.0.0/08', /10\.20\.0\.0\/16/],
    ['clientCidrs', '2001:db8::/129', /2001:db8:12::\/48/],
    ['clientCidrs', '2001:db8:::/48', /2001:db8:12::\/48/],
    ['clientCidrs', 'fe80::1%eth0/64', /2001:db8:12::\/48/],
    ['clientCidrs', '::ffff:10.0.0.0/104', /2001:db8:12::\/48/],
    ['authentication', 'password', /secret, iam, none/],
    ['callerArns', '*', /ARN of iam/],
    ['callerArns', 'arn:aws:sts::123456789012:assumed-role/spinnaker/me', /ARN of iam/],
    ['publicApi', 'yes', /true or false/],
    ['truststoreUri', 'https://bucket/key', /s3:/],
    ['authorizerSecretArn', secretArn.slice(0, -7), /six characters/],
    ['configSecretArn', 'busdriver-config', /whole ARN/],
    ['artifactsSecretArn', 'busdriver-artifacts', /whole ARN/],
    ['clusterArns', 'production', /ARN of eks/],
    ['repositoryArns', 'shop/cart', /ARN of ecr/],
    ['repositoryArns', 'arn:aws:ecr:us-east-1:123456789012:repository/*', /without wildcards/],
    ['repositoryArnPrefixes', 'arn:aws:ecr:us-east-1:123456789012:', /repository\//],
    ['repositoryArnPrefixes', 'arn:aws:ecr:us-east-1:123456789012:repository/sh', /repository\//],
    ['accountRoleArns', '*', /ARN of iam/],
    ['accountRoleArns', 'arn:aws:iam::123456789012:role/*', /without wildcards/],
    ['clusterArnPrefixes', 'arn:aws:eks:us-east-1:123456789012:', /cluster\//],
    ['accountRoleArnPrefixes', 'arn:aws:iam::123456789012:role/', /role\/spinnaker\//],
    ['accountRoleArnPrefixes', 'arn:aws:iam::123456789012:role/spin', /role\/spinnaker\//],
    ['accountSecretArnPrefixes', secretArn.replace(/spinnaker-.*/, ''), /secret:spinnaker\//],
    ['accountSecretArnPrefixes', secretArn.replace(/spinnaker-.*/, 'a/*'), /secret:spinnaker\//],
    ['accountSecretArns', 'arn:aws:s3:::team-secrets', /object in S3/],
    ['accountSecretArns', 'arn:aws:s3:::team-secrets/*', /without wildcards/],
    ['accountSecretArns', 'arn:aws:ssm:us-east-1:123456789012:parameter/shop/*', /without wildcards/],
    ['accountSecretArns', secretArn.slice(0, -7), /six characters/],
    ['accountSecretArnPrefixes', 'arn:aws:s3:::team', /arn:aws:s3:::bucket\//],
    ['accountSecretArnPrefixes', 'arn:aws:s3:::team-secrets/shop', /arn:aws:s3:::bucket\//],
    ['accountSecretArnPrefixes', 'arn:aws:ssm:us-east-1:123456789012:parameter/', /parameter\/spinnaker\//],
    ['encryptionKeyArn', 'alias/data', /ARN of kms/],
    ['permissionsBoundaryArn', 'boundary', /ARN of iam/],
    ['alarmTopicArn', 'arn:aws:sqs:us-east-1:123456789012:topic', /ARN of sns/],
    ['concurrency', 'operations=1', /from 2 to 1000/],
    ['concurrency', 'operations', /name=number/],
    ['agentIntervalSeconds', '5', /whole number from 10 to 3600/],
    ['agentIntervalSeconds', '3601', /whole number from 10 to 3600/],
    ['archiveDays', '-1', /whole number from 0/],
    ['archiveDays', '', /whole number from 0/],
    ['apiLogRole', 'mine', /create, existing/],
  ];

  it.each(cases)('%s: %s', (name, value, expected) => {
    const [problem] = getProblems({ ...privateOptions, [name]: value });
    expect(problem).toMatch(new RegExp(`^${name}: expected .*${expected.source}.*, not "`));
  });
});

describe('options that contradict one another are refused', () => {
  const { vpcId, subnetIds, vpcEndpointIds, authentication } = privateOptions;
  const made = { vpcId, subnetIds, authentication };
  const twice = `${vpcEndpointIds},${vpcEndpointIds}`;
  const wide = [
    '0.0.0.0/0',
    '::/0',
    '0.0.0.0/1,128.0.0.0/1',
    '2000::/3',
    '10.0.0.0/8',
    '10.20.0.0/16,172.16.0.0/12',
  ];
  const given = (options: Options): Options => ({ ...privateOptions, ...options });
  const role = (index: number): string => `arn:aws:iam::123456789012:role/spinnaker-caller-${index}`;
  const range = (index: number): string => `10.20.${index}.0/24`;
  const cases: readonly (readonly [what: string, options: Options, option: string])[] = [
    ['no endpoint', { authentication }, 'vpcEndpointIds'],
    ['nobody to let in', { vpcEndpointIds }, 'authentication'],
    ['a VPC without subnets', { vpcId, vpcEndpointIds, authentication }, 'subnetIds'],
    ['subnets without a VPC', { subnetIds, vpcEndpointIds, authentication }, 'vpcId'],
    ['an endpoint to be made, for nobody', made, 'clientCidrs'],
    ['the former name beside the new one', given({ vpcEndpointId: vpcEndpointIds }), 'vpcEndpointId'],
    ['an endpoint twice', { authentication, vpcEndpointIds: twice }, 'vpcEndpointIds'],
    ...wide.map(
      (clientCidrs) =>
        [`${clientCidrs} with no authentication behind`, { ...made, clientCidrs }, 'clientCidrs'] as const,
    ),
    ['a secret that nobody asks for', given({ authorizerSecretArn: secretArn }), 'authorizerSecretArn'],
    ['callers that IAM is not asked about', given({ callerArns: role(0) }), 'callerArns'],
    [
      'more ARNs than a role can hold',
      given({
        accountSecretArns: list(1_000, (index) => secretArn.replace('spinnaker-', `account-${index}-`)),
      }),
      'accountSecretArns, clusterArns, accountRoleArns',
    ],
    ['clients of an endpoint that is not ours', given({ clientCidrs: '10.20.0.0/16' }), 'clientCidrs'],
    ['more ranges than a security group takes', { ...made, clientCidrs: list(61, range) }, 'clientCidrs'],
    [
      'more callers than the policy of an API holds',
      given({ authentication: 'iam', callerArns: list(150, role) }),
      'callerArns, vpcEndpointIds',
    ],
    ['a public API for everybody', { publicApi: true }, 'publicApi'],
    ['a public API for everybody, with a name', { publicApi: true, ...domain }, 'publicApi'],
    ['a public API for everybody, said', { publicApi: true, authentication: 'none' }, 'publicApi'],
    ['mutual TLS without a name', { publicApi: true, truststoreUri: 's3://a/b' }, 'domainName'],
    ['mutual TLS for a private API', given({ ...domain, truststoreUri: 's3://a/b' }), 'truststoreUri'],
    ['a version of no truststore', given({ truststoreVersion: '1' }), 'truststoreVersion'],
    [
      'a public API behind an endpoint',
      { publicApi: true, vpcEndpointIds, authorizerSecretArn: secretArn },
      'vpcEndpointIds',
    ],
    ['a name without a certificate', given({ domainName: 'a.example.com' }), 'certificateArn'],
    ['a certificate without a name', given({ certificateArn }), 'domainName'],
    [
      'one secret for clusters and artifacts',
      given({ configSecretArn: secretArn, artifactsSecretArn: secretArn }),
      'artifactsSecretArn',
    ],
    ['the concurrency of no queue', given({ concurrency: 'stages=4' }), 'concurrency'],
  ];

  it.each(cases)('%s', (_what, options, option) => {
    const problems = getProblems(options);
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([option]);
  });
});

describe('who may call', () => {
  const { vpcEndpointIds, ...network } = privateOptions;

  it.each([
    [{ vpcEndpointIds, authentication: 'iam' }, 'iam'],
    [{ vpcEndpointIds, authorizerSecretArn: secretArn }, 'secret'],
    [{ publicApi: true, ...domain, truststoreUri: 's3://a/b' }, 'none'],
    [{ publicApi: true, ...domain, truststoreUri: 's3://a/b', authentication: 'secret' }, 'secret'],
  ])('follows from %j', (options, authentication) => {
    expect(decideAuthentication(read(options))).toBe(authentication);
  });

  it.each(['10.20.0.0/16,10.21.4.0/22', '2001:db8:10::/44', '192.0.2.7/32,2001:db8::1/128'])(
    'may be everybody in %s',
    (clientCidrs) => {
      expect(getProblems({ ...network, clientCidrs })).toEqual([]);
    },
  );

  it.each(['0.0.0.0/0', '::/0', '10.0.0.0/8'])('may be anybody in %s who proves who he is', (clientCidrs) => {
    expect(getProblems({ ...network, clientCidrs, authentication: 'secret' })).toEqual([]);
  });
});

describe('endpoints', () => {
  const { vpcEndpointIds, ...network } = privateOptions;

  it('may be several, of other accounts, too', () => {
    const ids = `${vpcEndpointIds},210987654321/vpce-0123456789abcdef1`;
    expect(read({ ...network, vpcEndpointIds: ids }).vpcEndpointIds).toEqual([
      { id: vpcEndpointIds, account: undefined },
      { id: 'vpce-0123456789abcdef1', account: '210987654321' },
    ]);
  });

  it('may be named by their former option', () => {
    expect(listEndpoints(read({ ...network, vpcEndpointId: vpcEndpointIds }))).toEqual([
      { id: vpcEndpointIds, account: undefined },
    ]);
  });
});

describe('where the stacks go', () => {
  const cluster = 'arn:aws:eks:us-east-1:123456789012:cluster/a';
  it.each<[region: string, given: Options, refused: readonly string[]]>([
    ['us-east-1', domain, []],
    ['eu-west-1', domain, ['certificateArn']],
    [
      'us-gov-west-1',
      { permissionsBoundaryArn: 'arn:aws:iam::123456789012:policy/a' },
      ['permissionsBoundaryArn'],
    ],
    ['eu-west-1', { alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:a' }, ['alarmTopicArn']],
    ['eu-west-1', { encryptionKeyArn: 'arn:aws:kms:us-east-1:123456789012:key/a' }, ['encryptionKeyArn']],
    ['eu-west-1', { configSecretArn: secretArn }, ['configSecretArn']],
    ['eu-west-1', { clusterArns: cluster }, []],
    ['eu-west-1', { accountSecretArns: secretArn }, []],
    ['cn-north-1', { clusterArns: cluster }, ['clusterArns']],
    ['cn-north-1', { clusterArns: 'arn:aws-cn:eks:cn-north-1:123456789012:cluster/a' }, []],
    ['xx-new-1', { clusterArns: 'arn:aws-xx:eks:xx-new-1:123456789012:cluster/a' }, []],
  ])('in %s, %j: %j is refused', (region, given, refused) => {
    const problems = getProblems({ ...privateOptions, ...given }, { region });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(refused);
    expect(problems.every((problem) => problem.includes(region))).toBe(true);
  });

  it('is no other account', () => {
    const given = { ...privateOptions, vpcEndpointIds: '210987654321/vpce-0123456789abcdef0' };
    expect(getProblems(given, { region: 'us-east-1', account: '210987654321' })).toEqual([
      expect.stringContaining('vpcEndpointIds: expected no 210987654321/'),
    ]);
    expect(getProblems(given, { region: 'us-east-1', account: '123456789012' })).toEqual([]);
  });
});

describe('docs/stacks.md', () => {
  it('explains every option', () => {
    const text = readFileSync(join(root, 'docs', 'stacks.md'), 'utf8');
    const explained = [...text.matchAll(/^\| `(\w+)` \|[^|]+\|[^|]+\|$/gm)].map(([, name]) => name);
    expect(explained.sort()).toEqual([...contextOptions].sort());
  });
});
