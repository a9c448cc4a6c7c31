import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AwsIdentities } from '#platform/aws/identity/aws-identity.ts';
import { createEcrService } from '#platform/aws/identity/ecr-service.ts';
import { ServiceBusyError } from '#platform/ports/lookup.ts';
import type { TestEcr, TestEcrImage } from '#test/support/artifacts/ecr.ts';
import { ecrRegion, ecrRegistryId, startEcr, toDigest } from '#test/support/artifacts/ecr.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { createTestClock, type TestClock } from '#test/support/run/test-clock.ts';

const roleArn = 'arn:aws:iam::111122223333:role/registry-reader';
const registry = { registryId: ecrRegistryId, region: ecrRegion };

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

function openService(environment: Record<string, string> = { AWS_ENDPOINT_URL_ECR: ecr.url }) {
  return createEcrService({ identities: new AwsIdentities(clock), clock, environment });
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
    const { signal } = abort;
    const first = await openService().describeRepositories(registry, { signal });
    const second = await openService().describeRepositories(registry, { signal, nextToken: first.nextToken });
    expect([first.names, second.names, second.nextToken]).toEqual([['a', 'b'], ['c'], undefined]);
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
    const answer = await openService().describeImages(registry, 'shop/cart', { signal: abort.signal });
    const pushedAt = '2026-03-04T05:06:07.250Z';
    expect(answer).toEqual({ images: [{ digest: toDigest('a'), tags: ['1', 'latest'], pushedAt }] });
  });

  test('knows no images of a repository that is not there', async () => {
    const options = { signal: abort.signal };
    expect(await openService().describeImages(registry, 'away', options)).toBeUndefined();
  });

  test('gives a token that holds for twelve hours', async () => {
    const { basic, expiresAtMs } = await openService().getAuthorizationToken(registry, abort.signal);
    expect(Buffer.from(basic, 'base64').toString()).toBe('AWS:planted-ecr-token');
    expect((expiresAtMs - Date.now()) / 3_600_000).toBeCloseTo(12, 2);
  });

  test('is asked as a role, in the region of the registry', async () => {
    aws.roles.set(roleArn, 3600);
    addSession('ASIA1');
    const asRole = { ...registry, roleArn, externalId: 'x-1' };
    await openService().describeRepositories(asRole, { signal: abort.signal });
    expect(ecr.calls).toMatchObject([{ accessKeyId: 'ASIA1', region: ecrRegion }]);
    expect(aws.calls).toMatchObject([{ parameters: { RoleArn: roleArn, ExternalId: 'x-1' } }]);
  });

  test('is asked once more, as a new session, when the old one was ended', async () => {
    aws.roles.set(roleArn, 3600);
    addSession('ASIA1');
    addSession('ASIA2');
    const service = openService();
    const asRole = { ...registry, roleArn };
    await service.describeRepositories(asRole, { signal: abort.signal });
    clock.advance(60_000);
    ecr.refusals.push({ status: 400, code: 'ExpiredTokenException' });
    await service.describeRepositories(asRole, { signal: abort.signal });
    expect(ecr.calls.map(({ accessKeyId }) => accessKeyId)).toEqual(['ASIA1', 'ASIA1', 'ASIA2']);
    expect(ecr.unsigned).toEqual([]);
  });

  test.each([
    { status: 400, code: 'ThrottlingException', message: 'Rate exceeded' },
    { status: 500, code: 'ServerException' },
  ])('that answers $code may be asked again later', async (refusal) => {
    ecr.refusals.push(refusal);
    const asked = openService().describeRepositories(registry, { signal: abort.signal });
    await expect(asked).rejects.toBeInstanceOf(ServiceBusyError);
  });

  test('that refuses says why, as whom and what to do', async () => {
    ecr.refusals.push({ status: 400, code: 'AccessDeniedException', message: 'User: me is not authorized' });
    const asked = openService().describeImages(registry, 'shop/cart', { signal: abort.signal });
    await expect(asked).rejects.toThrow(
      `cannot ask the ECR registry ${ecrRegistryId} in ${ecrRegion}: AccessDeniedException: User: me is not authorized: ` +
        'allow ecr:DescribeImages on its repositories to this identity',
    );
  });

  test('that cannot be reached says so', async () => {
    const { url } = ecr;
    await ecr[Symbol.asyncDispose]();
    const asked = openService({ AWS_ENDPOINT_URL_ECR: url }).describeRepositories(registry, {
      signal: abort.signal,
    });
    await expect(asked).rejects.toThrow('ECONNREFUSED');
    await expect(asked).rejects.toBeInstanceOf(ServiceBusyError);
    ecr = await startEcr();
  });

  test('is not waited for once the caller has given up', async () => {
    abort.abort(new Error('over'));
    const asked = openService().describeRepositories(registry, { signal: abort.signal });
    await expect(asked).rejects.toThrow('over');
  });
});
