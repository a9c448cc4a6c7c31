import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { asJsonArray, asJsonObject } from '#core/json.ts';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import { startEcr, type TestEcr, toDigest } from '#test/support/artifacts/ecr.ts';
import { tellAwsEvent } from '#test/support/engines/aws-events.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

describe('a push to Amazon ECR', () => {
  const stack = new AsyncDisposableStack();
  let ecr: TestEcr;
  let system: System;

  beforeAll(async () => {
    stack.defer(() => void vi.unstubAllEnvs());
    ecr = stack.use(await startEcr(localAccountId));
    const address = `https://${localAccountId}.dkr.ecr.${localRegion}.amazonaws.com`;
    const images = new Map([[toDigest('a'), { tags: ['1'], pushedAtMs: 1_767_225_600_000 }]]);
    ecr.repositories.set('shop/cart', images);
    // Without events nothing would be seen for an hour.
    const accounts = [{ name: 'ecr', address, cacheIntervalSeconds: 3600, trackDigests: true }];
    const settings = { kubernetes: { enabled: false }, dockerRegistry: { enabled: true, accounts } };
    const keys = { AWS_ACCESS_KEY_ID: 'AKIAOWN', AWS_SECRET_ACCESS_KEY: 'own-secret-key' };
    system = stack.use(await startSystem({ settings, env: { AWS_ENDPOINT_URL_ECR: ecr.url, ...keys } }));
    await vi.waitFor(async () => expect(await listTags()).toEqual(['1']), { timeout: 60_000, interval: 50 });
    await system.idle();
  });
  afterAll(() => stack.disposeAsync());

  async function listTags(): Promise<unknown> {
    const response = await system.fetch('/dockerRegistry/images/find?account=ecr');
    return asJsonArray(await response.json()).map((image) => asJsonObject(image)?.['tag']);
  }

  /** Tells of an event in the form in which ECR does. */
  async function tell(detail: { readonly [member: string]: string }): Promise<void> {
    const whole = { result: 'SUCCESS', 'repository-name': 'shop/cart', ...detail };
    await tellAwsEvent(system.stores, {
      ...{ source: 'aws.ecr', 'detail-type': 'ECR Image Action', detail: whole },
    });
  }

  test('is seen at once, though its account is listed once an hour', async () => {
    ecr.calls.length = 0;
    ecr.repositories.get('shop/cart')?.set(toDigest('b'), { tags: ['2'], pushedAtMs: 1_767_225_700_000 });
    await tell({ 'action-type': 'PUSH', 'image-tag': '2', 'image-digest': toDigest('b') });
    await expect.poll(listTags).toEqual(['1', '2']);
    expect(ecr.calls.map(({ action }) => action)).toEqual(['DescribeImages']);
    const listPushed = async () => {
      const events = await system.readEvents();
      const pushed = events.filter((event) => event['detail-type'] === 'ImagePushed');
      return pushed.map(({ detail }) => detail);
    };
    await expect
      .poll(listPushed)
      .toMatchObject([{ account: 'ecr', repository: 'shop/cart', tag: '2', digest: toDigest('b') }]);
  });

  test('that is deleted again is gone as soon', async () => {
    ecr.repositories.get('shop/cart')?.delete(toDigest('b'));
    await tell({ 'action-type': 'DELETE', 'image-digest': toDigest('b') });
    await expect.poll(listTags).toEqual(['1']);
  });

  test('is left to a run of the agent where ECR cannot be asked at once', async () => {
    ecr.repositories.get('shop/cart')?.set(toDigest('c'), { tags: ['3'], pushedAtMs: 1_767_225_800_000 });
    ecr.refusals.push({ status: 400, code: 'AccessDeniedException' });
    await tell({ 'action-type': 'PUSH', 'image-tag': '3', 'image-digest': toDigest('c') });
    await expect.poll(listTags).toEqual(['1', '3']);
    expect(await system.readLog()).toContain('an event is left to a run');
  });

  test('of others, or without a tag, asks ECR for nothing', async () => {
    await system.idle();
    ecr.calls.length = 0;
    await tell({ 'action-type': 'PUSH', 'image-digest': toDigest('d') });
    await tell({ 'action-type': 'PULL', 'image-tag': '1' });
    await tell({ 'action-type': 'PUSH', 'image-tag': '1', 'repository-name': '../x' });
    await system.idle();
    expect(ecr.calls).toEqual([]);
  });
});
