import { describe, expect, test } from 'vitest';
import { parseEksPlugin } from '#providers/kubernetes/account/exec-plugin.ts';

function parse(line: string, env: Record<string, string> = {}, environment: Record<string, string> = {}) {
  const [command = '', ...args] = line.split(' ');
  const plugin = { apiVersion: 'client.authentication.k8s.io/v1', command, args, env };
  const rest = { installHint: undefined, provideClusterInfo: false, interactiveMode: 'Never' };
  return parseEksPlugin({ ...plugin, ...rest }, environment);
}

const get = 'EKSGetTokenAuth';

describe('a program that makes tokens for EKS is read', () => {
  test.each([
    ['aws eks get-token --cluster-name prod', { name: 'prod', sessionName: get }],
    [
      'aws --region us-west-2 eks get-token --cluster-name prod --output json',
      { name: 'prod', region: 'us-west-2', sessionName: get },
    ],
    [
      '/usr/local/bin/aws eks get-token --cluster-name=prod --role-arn=arn:aws:iam::1:role/a=b --profile x',
      { name: 'prod', roleArn: 'arn:aws:iam::1:role/a=b', profile: 'x', sessionName: get },
    ],
    ['aws.exe eks get-token --cluster-id 1234', { name: '1234', sessionName: get }],
    ['aws-iam-authenticator token -i prod', { name: 'prod' }],
    [
      'aws-iam-authenticator token --cluster-id prod -r arn:r -s ci -e x1 --region eu-west-1 --cache',
      { name: 'prod', roleArn: 'arn:r', sessionName: 'ci', externalId: 'x1', region: 'eu-west-1' },
    ],
  ])('%s', (line, cluster) => {
    expect(parse(line)).toEqual({ cluster, unknown: [] });
  });

  test.each([
    [{ AWS_PROFILE: 'team' }, {}, { profile: 'team' }],
    [{ AWS_PROFILE: '', AWS_REGION: 'eu-west-1' }, { AWS_REGION: 'us-east-1' }, { region: 'eu-west-1' }],
    [
      { AWS_STS_REGIONAL_ENDPOINTS: 'regional' },
      { AWS_DEFAULT_REGION: 'us-east-1' },
      { region: 'us-east-1' },
    ],
    [{ AWS_PROFILE: 'team' }, { AWS_ACCESS_KEY_ID: 'AKIA' }, {}],
  ])('with the variables %j in an environment with %j', (env, environment, values) => {
    const parsed = parse('aws eks get-token --cluster-name prod', env, environment as Record<string, string>);
    expect(parsed).toEqual({ cluster: { name: 'prod', sessionName: get, ...values }, unknown: [] });
  });

  test("its options win over its variables, and a profile among them over the environment's keys", () => {
    const line = 'aws eks get-token --cluster-name prod --region eu-west-1 --profile told';
    const env = { AWS_REGION: 'us-east-1', AWS_PROFILE: 'other' };
    expect(parse(line, env, { AWS_ACCESS_KEY_ID: 'AKIA' })?.cluster).toMatchObject({
      region: 'eu-west-1',
      profile: 'told',
    });
  });
});

test.each([
  [
    'aws eks get-token --cluster-name prod --endpoint-url https://x --debug',
    {},
    ['--endpoint-url', 'a further argument', '--debug'],
  ],
  ['aws eks get-token --cluster-name prod', { AWS_ACCESS_KEY_ID: 'AKIA' }, ['AWS_ACCESS_KEY_ID']],
  ['aws eks get-token', {}, ['no name of a cluster']],
  [
    'aws eks get-token --cluster-name prod --mfa planted -xplanted',
    {},
    ['--mfa', 'a further argument', '-x'],
  ],
  ['aws-iam-authenticator token -i prod --forward-session-name', {}, ['--forward-session-name']],
])('what only the program understands is named: %s, %j', (line, env, unknown) => {
  expect(parse(line, env as Record<string, string>)?.unknown).toEqual(unknown);
});

test.each([
  'aws sts get-caller-identity',
  'gke-gcloud-auth-plugin',
  'aws-iam-authenticator version',
  'toString x',
])('%s is no such program', (line) => {
  expect(parse(line)).toBeUndefined();
});
