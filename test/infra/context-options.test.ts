import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RootConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../infra/context.ts';
import { ContextError, contextOptions, readContext } from '../../infra/context-options.ts';
import { root } from '../architecture/source-files.ts';
import { type Options, privateOptions } from './stacks/synthesize.ts';

const secretArn = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker-AbCdEf';
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0123';
const domain = { domainName: 'clouddriver.example.com', certificateArn };

function read(options: Options): Context {
  const construct = new RootConstruct();
  for (const [name, value] of Object.entries(options)) construct.node.setContext(name, value);
  return readContext(construct);
}

function listSecretArns(count: number): string[] {
  return Array.from({ length: count }, (_, index) => secretArn.replace('spinnaker-', `account-${index}-`));
}

/** The lines of the refusal, without the first. */
function getProblems(options: Options): string[] {
  try {
    read(options);
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
  it('needs no more than an endpoint', () => {
    const context = read({ vpcEndpointId: 'vpce-0123456789abcdef0' });

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
    ['clientCidrs', '10.0.0.0', /10\.0\.0\.0\/8/],
    ['clientCidrs', '10.0.0.256/8', /10\.0\.0\.0\/8/],
    ['clientCidrs', '10.0.0.0/33', /10\.0\.0\.0\/8/],
    ['publicApi', 'yes', /true or false/],
    ['truststoreUri', 'https://bucket/key', /s3:/],
    ['authorizerSecretArn', secretArn.slice(0, -7), /six characters/],
    ['configSecretArn', 'busdriver-config', /whole ARN/],
    ['artifactsSecretArn', 'busdriver-artifacts', /whole ARN/],
    ['clusterArns', 'production', /ARN of eks/],
    ['accountRoleArns', '*', /ARN of iam/],
    ['accountRoleArns', 'arn:aws:iam::123456789012:role/*', /without wildcards/],
    ['clusterArnPrefixes', 'arn:aws:eks:us-east-1:123456789012:', /cluster\//],
    ['accountRoleArnPrefixes', 'arn:aws:iam::123456789012:role/', /role\/spinnaker\//],
    ['accountRoleArnPrefixes', 'arn:aws:iam::123456789012:role/spin', /role\/spinnaker\//],
    [
      'accountSecretArnPrefixes',
      'arn:aws:secretsmanager:us-east-1:123456789012:secret:',
      /secret:spinnaker\//,
    ],
    [
      'accountSecretArnPrefixes',
      'arn:aws:secretsmanager:us-east-1:123456789012:secret:a/*',
      /secret:spinnaker\//,
    ],
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
  const { vpcId, subnetIds, vpcEndpointId } = privateOptions;
  const cases: readonly (readonly [what: string, options: Options, option: string])[] = [
    ['nothing', {}, 'vpcEndpointId'],
    ['a VPC without subnets', { vpcId, vpcEndpointId }, 'subnetIds'],
    ['subnets without a VPC', { subnetIds, vpcEndpointId }, 'vpcId'],
    ['an endpoint to be made, for nobody', { vpcId, subnetIds }, 'clientCidrs'],
    [
      'the whole internet as clients',
      { vpcId, subnetIds, clientCidrs: '10.0.0.0/8,0.0.0.0/0' },
      'clientCidrs',
    ],
    [
      'the whole internet in two halves',
      { vpcId, subnetIds, clientCidrs: '0.0.0.0/1,128.0.0.0/1' },
      'clientCidrs',
    ],
    [
      'more ARNs than a role can hold',
      { ...privateOptions, accountSecretArns: listSecretArns(1_000).join(',') },
      'accountSecretArns, clusterArns, accountRoleArns',
    ],
    [
      'clients of an endpoint that is not ours',
      { ...privateOptions, clientCidrs: '10.0.0.0/8' },
      'clientCidrs',
    ],
    ['a public API for everybody', { publicApi: true }, 'publicApi'],
    ['a public API for everybody, with a name', { publicApi: true, ...domain }, 'publicApi'],
    ['mutual TLS without a name', { publicApi: true, truststoreUri: 's3://a/b' }, 'domainName'],
    [
      'mutual TLS for a private API',
      { ...privateOptions, ...domain, truststoreUri: 's3://a/b' },
      'truststoreUri',
    ],
    ['a version of no truststore', { ...privateOptions, truststoreVersion: '1' }, 'truststoreVersion'],
    [
      'a public API behind an endpoint',
      { publicApi: true, vpcEndpointId, authorizerSecretArn: secretArn },
      'vpcEndpointId',
    ],
    ['a name without a certificate', { ...privateOptions, domainName: 'a.example.com' }, 'certificateArn'],
    ['a certificate without a name', { ...privateOptions, certificateArn }, 'domainName'],
    [
      'one secret for clusters and artifacts',
      { ...privateOptions, configSecretArn: secretArn, artifactsSecretArn: secretArn },
      'artifactsSecretArn',
    ],
    ['the concurrency of no queue', { ...privateOptions, concurrency: 'stages=4' }, 'concurrency'],
  ];

  it.each(cases)('%s', (_what, options, option) => {
    const problems = getProblems(options);

    expect(problems.map((problem) => problem.split(':')[0])).toEqual([option]);
  });
});

describe('docs/stacks.md', () => {
  it('explains every option', () => {
    const text = readFileSync(join(root, 'docs', 'stacks.md'), 'utf8');
    const explained = [...text.matchAll(/^\| `(\w+)` \|[^|]+\|[^|]+\|$/gm)].map(([, name]) => name);

    expect(explained.sort()).toEqual([...contextOptions].sort());
  });
});
