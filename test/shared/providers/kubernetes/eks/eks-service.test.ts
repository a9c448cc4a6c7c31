import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createEksService, type EksService } from '#providers/kubernetes/eks/eks-service.ts';
import { type AwsEndpoints, readToken, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { createTestClock, type TestClock } from '#test/support/run/test-clock.ts';
import { createTestHost } from '#test/support/services/test-host.ts';

const roleArn = 'arn:aws:iam::111122223333:role/deployer';
const minute = 60_000;

let aws: AwsEndpoints;
let clock: TestClock;
let eks: EksService;

beforeEach(async () => {
  aws = await startAwsEndpoints();
  clock = createTestClock();
  eks = createEksService({ ...createTestHost({ clock }), clock });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
});

async function presign(cluster: object = {}, refused = false) {
  const { token, expiresAtMs } = await eks.presignToken({ name: 'prod', ...cluster }, refused);
  return { ...readToken(token), expiresAtMs };
}

describe('presignToken', () => {
  test('needs no call of AWS without a role, and lives for 14 minutes', async () => {
    const { url, accessKeyId, expiresAtMs } = await presign();
    expect(url.hostname).toBe('sts.eu-west-1.amazonaws.com');
    expect(accessKeyId).toBe('AKIAOWN');
    expect((expiresAtMs - clock.now()) / minute).toBeCloseTo(14, 1);
    expect(aws.calls).toEqual([]);
  });

  test('signs for the region of the cluster', async () => {
    expect((await presign({ region: 'cn-north-1' })).url.hostname).toBe('sts.cn-north-1.amazonaws.com.cn');
  });

  test('assumes a role with its session name and external id, in the region', async () => {
    aws.roles.set(roleArn, 3600);
    const cluster = { roleArn, sessionName: 'ci', externalId: 'x-1', region: 'us-west-2' };
    const { accessKeyId, url } = await presign(cluster);
    expect(accessKeyId).toBe('ASIA1');
    expect(url.searchParams.get('X-Amz-Security-Token')).toBe('role-session-token');
    expect(aws.calls).toMatchObject([
      {
        action: 'AssumeRole',
        accessKeyId: 'AKIAOWN',
        region: 'us-west-2',
        parameters: { RoleArn: roleArn, RoleSessionName: 'ci', ExternalId: 'x-1' },
      },
    ]);
  });

  test('assumes a role once for many clusters, and again after four fifths of its session', async () => {
    aws.roles.set(roleArn, 3600);
    await Promise.all(Array.from({ length: 20 }, (_, index) => presign({ name: `c${index}`, roleArn })));
    clock.advance(47 * minute);
    await presign({ roleArn });
    expect(aws.countCalls('AssumeRole')).toBe(1);
    clock.advance(2 * minute);
    await Promise.all(Array.from({ length: 20 }, () => presign({ roleArn })));
    expect(aws.countCalls('AssumeRole')).toBe(2);
    expect(aws.calls[0]?.parameters['RoleSessionName']).toBe('busdriver');
  });

  test('assumes a role anew when the last token was refused, though not at once', async () => {
    aws.roles.set(roleArn, 3600);
    await presign({ roleArn });
    await presign({ roleArn }, true);
    expect(aws.countCalls('AssumeRole')).toBe(1);
    clock.advance(minute);
    await presign({ roleArn }, true);
    expect(aws.countCalls('AssumeRole')).toBe(2);
  });

  test('of a short session is used until a minute before its end', async () => {
    aws.roles.set(roleArn, 300);
    const { expiresAtMs } = await presign({ roleArn });
    expect((expiresAtMs - clock.now()) / minute).toBeCloseTo(4, 1);
  });

  test('takes a profile, and notices when its keys change', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
    const write = (key: string) =>
      writeFile(
        join(aws.dir, 'aws-credentials'),
        `[team]\naws_access_key_id=${key}\naws_secret_access_key=s\n`,
      );
    await write('AKIATEAM');
    expect((await presign({ profile: 'team' })).accessKeyId).toBe('AKIATEAM');
    await write('AKIANEXT');
    clock.advance(2 * minute);
    expect((await presign({ profile: 'team' })).accessKeyId).toBe('AKIANEXT');
  });

  test('of a role that is denied says as whom and what to do, and asks again the next time', async () => {
    await expect(presign({ roleArn, externalId: 'x' })).rejects.toThrow(
      `cannot assume the role ${roleArn}: AccessDenied: User: arn:aws:iam::111122223333:user/me is not authorized to perform: ` +
        `sts:AssumeRole on resource: ${roleArn}: allow sts:AssumeRole on it in the policy of Busdriver's own role, ` +
        'and name that role in its trust policy, with this external id',
    );
    aws.roles.set(roleArn, 3600);
    expect((await presign({ roleArn, externalId: 'x' })).accessKeyId).toBe('ASIA2');
  });

  test('shows no session token that STS repeats behind the first line of its message', async () => {
    const message = 'The signature is wrong.\n\nThe Canonical String was x-amz-security-token:planted-token';
    aws.roles.set(roleArn, { status: 403, code: 'SignatureDoesNotMatch', message });
    const error = await presign({ roleArn }).catch(String);
    expect(error).toContain(
      'SignatureDoesNotMatch: The signature is wrong.: the credentials of this process',
    );
    expect(error).not.toContain('planted-token');
  });

  test('without credentials, region or STS says what to do', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_STS', 'http://127.0.0.1:9');
    await expect(presign({ roleArn })).rejects.toThrow(
      /^cannot assume the role \S+: ECONNREFUSED.*VPC endpoint/,
    );
    vi.stubEnv('AWS_REGION', undefined);
    await expect(presign()).rejects.toThrow('no AWS region is known: name it, or set AWS_REGION');
    await expect(presign({ region: 'eu-west-1', profile: 'nobody' })).rejects.toThrow(
      /^no AWS credentials were found for the profile "nobody": CredentialsProviderError: .*give this process a role/,
    );
  });
});

describe('describeCluster', () => {
  const found = {
    endpoint: 'https://X.gr7.eu-west-1.eks.amazonaws.com',
    certificateAuthority: { data: 'Q0E=' },
  };

  test('tells where the cluster is', async () => {
    aws.clusters.set('prod', { ...found, status: 'ACTIVE' });
    expect(await eks.describeCluster({ name: 'prod' })).toEqual({
      server: found.endpoint,
      certificateAuthorityData: 'Q0E=',
      asOfMs: expect.closeTo(clock.now(), -4),
    });
    expect(aws.calls).toMatchObject([
      { action: 'DescribeCluster', accessKeyId: 'AKIAOWN', region: 'eu-west-1' },
    ]);
  });

  test('asks as the role', async () => {
    aws.roles.set(roleArn, 3600);
    aws.clusters.set('prod', found);
    await eks.describeCluster({ name: 'prod', roleArn, region: 'us-east-2' });
    expect(aws.calls[1]).toMatchObject({ accessKeyId: 'ASIA1', region: 'us-east-2' });
  });

  test.each([
    [
      { status: 403, code: 'AccessDeniedException', message: 'User is not authorized.' },
      'cannot look up the EKS cluster "prod" in eu-west-1: AccessDeniedException: User is not authorized.: allow eks:DescribeCluster on it',
    ],
    [
      { status: 403, code: 'UnrecognizedClientException', message: 'The security token is invalid.' },
      'UnrecognizedClientException: The security token is invalid.: the credentials of this process are no good',
    ],
    [
      { status: 'CREATING' },
      'cannot look up the EKS cluster "prod" in eu-west-1: it has no endpoint yet (CREATING)',
    ],
  ])('%j says what to do', async (cluster, message) => {
    aws.clusters.set('prod', cluster);
    await expect(eks.describeCluster({ name: 'prod' })).rejects.toThrow(message);
  });

  test('of a cluster that does not exist says where it looked, and as whom', async () => {
    aws.roles.set(roleArn, 3600);
    await expect(eks.describeCluster({ name: 'prodd', roleArn })).rejects.toThrow(
      `cannot look up the EKS cluster "prodd" in eu-west-1 as ${roleArn}: ResourceNotFoundException: ` +
        'No cluster found: prodd.: check its name, its region, and the AWS account of the identity',
    );
  });
});
