import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAws } from '#platform/aws/identity/aws-access.ts';
import { systemClock } from '#platform/services/system.ts';
import { EcrClient } from '#providers/docker-registry/ecr-client.ts';
import type { TestEcr, TestEcrImage } from '#test/support/artifacts/ecr.ts';
import { ecrRegion, ecrRegistryId, startEcr, toDigest } from '#test/support/artifacts/ecr.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';

const roleArn = 'arn:aws:iam::111122223333:role/registry-reader';

let aws: AwsEndpoints;
let ecr: TestEcr;
let clock: TestClock;
let abort: AbortController;

beforeEach(async () => {
  aws = await startAwsEndpoints();
  ecr = await startEcr();
  clock = createTestClock();
  abort = new AbortController();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await ecr[Symbol.asyncDispose]();
  await aws[Symbol.asyncDispose]();
});

/** A client whose credentials age by the clock of the test, and whose pauses are real. */
function openClient(role: { roleArn?: string; externalId?: string } = {}): EcrClient {
  const own = createAws({ clock, environment: { AWS_ENDPOINT_URL_ECR: ecr.url } });
  return new EcrClient({
    registry: { registryId: ecrRegistryId, region: ecrRegion, ...role },
    services: { openAws: async () => own },
    ...{ threads: 1, clock: systemClock, randomness: testRandomness },
  });
}

/** Lets ECR know the session of a role, as STS of the tests makes it. */
function addSession(accessKeyId: string): void {
  const session = { secretAccessKey: 'role-secret-key', sessionToken: 'role-session-token' };
  ecr.keys.set(accessKeyId, { accessKeyId, ...session });
}

describe('ECR', () => {
  test('is asked by signed calls, page by page', async () => {
    ecr.pageSize = 2;
    for (const name of ['a', 'b', 'c']) ecr.repositories.set(name, new Map());
    expect(await openClient().listRepositories(abort.signal)).toEqual(['a', 'b', 'c']);
    expect(ecr.calls).toMatchObject([
      { action: 'DescribeRepositories', accessKeyId: 'AKIAOWN', region: ecrRegion },
      { input: { registryId: ecrRegistryId, maxResults: 1000, nextToken: '2' } },
    ]);
    expect(ecr.unsigned).toEqual([]);
  });

  test('tells the tags of images, their digests and when they were pushed', async () => {
    const pushedAtMs = Date.parse('2026-03-04T05:06:07.250Z');
    const images = new Map<string, TestEcrImage>();
    ecr.repositories.set('shop/cart', images);
    images.set(toDigest('a'), { tags: ['1', 'latest'], pushedAtMs });
    images.set(toDigest('b'), { tags: [], pushedAtMs });
    const known = { digest: toDigest('a'), created: '2026-03-04T05:06:07.250Z' };
    const tags = await openClient().listTags('shop/cart', abort.signal);
    expect(tags).toEqual([
      { name: '1', ...known },
      { name: 'latest', ...known },
    ]);
  });

  test('knows no tags of a repository that is not there', async () => {
    expect(await openClient().listTags('away', abort.signal)).toBeUndefined();
  });

  test('gives a token that holds for twelve hours', async () => {
    const { basic, expiresAtMs } = await openClient().getAuthorizationToken(abort.signal);
    expect(Buffer.from(basic, 'base64').toString()).toBe('AWS:planted-ecr-token');
    expect((expiresAtMs - Date.now()) / 3_600_000).toBeCloseTo(12, 2);
  });

  test('is asked as a role, in the region of the registry', async () => {
    aws.roles.set(roleArn, 3600);
    addSession('ASIA1');
    await openClient({ roleArn, externalId: 'x-1' }).listRepositories(abort.signal);
    expect(ecr.calls).toMatchObject([{ accessKeyId: 'ASIA1', region: ecrRegion }]);
    expect(aws.calls).toMatchObject([{ parameters: { RoleArn: roleArn, ExternalId: 'x-1' } }]);
  });

  test('is asked once more, as a new session, when the old one was ended', async () => {
    aws.roles.set(roleArn, 3600);
    addSession('ASIA1');
    addSession('ASIA2');
    const client = openClient({ roleArn });
    await client.listRepositories(abort.signal);
    clock.advance(60_000);
    ecr.refusals.push({ status: 400, code: 'ExpiredTokenException' });
    await client.listRepositories(abort.signal);
    expect(ecr.calls.map(({ accessKeyId }) => accessKeyId)).toEqual(['ASIA1', 'ASIA1', 'ASIA2']);
    expect(ecr.unsigned).toEqual([]);
  });

  test.each([
    { status: 400, code: 'ThrottlingException', message: 'Rate exceeded' },
    { status: 500, code: 'ServerException' },
  ])('that answers $code is asked again later', async (refusal) => {
    ecr.refusals.push(refusal);
    expect(await openClient().listRepositories(abort.signal)).toEqual([]);
    expect(ecr.calls).toHaveLength(2);
  });

  test('that refuses says why, as whom and what to do, and is not asked again', async () => {
    ecr.refusals.push({ status: 400, code: 'AccessDeniedException', message: 'User: me is not authorized' });
    const asked = openClient().listTags('shop/cart', abort.signal);
    await expect(asked).rejects.toThrow(
      `cannot ask the ECR registry ${ecrRegistryId} in ${ecrRegion}: AccessDeniedException: User: me is not authorized: ` +
        'allow ecr:DescribeImages on its repositories to this identity',
    );
    expect(ecr.calls).toHaveLength(1);
  });

  test('that cannot be reached says so, after five tries', async () => {
    const client = openClient();
    await ecr[Symbol.asyncDispose]();
    await expect(client.listRepositories(abort.signal)).rejects.toThrow('ECONNREFUSED');
    ecr = await startEcr();
  }, 30_000);

  test('is not waited for once the caller has given up', async () => {
    abort.abort(new Error('over'));
    await expect(openClient().listRepositories(abort.signal)).rejects.toThrow('over');
  });
});
