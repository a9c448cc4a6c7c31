import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AwsCredentialIdentity } from '@smithy/types';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createAws } from '#platform/aws/identity/aws-access.ts';
import { systemClock } from '#platform/services/system.ts';
import { signCallerIdentity } from '#providers/artifacts/gcs-tokens.ts';
import { describeWithS3, type EmulatedS3, startEmulatedS3 } from '#test/support/artifacts/emulated-s3.ts';

/** Installing the emulator may take this long. */
const startTimeoutMs = 600_000;

/** Sends what was signed as who was shown it does, but to the emulator. */
async function send(endpoint: string, { url, headers }: Awaited<ReturnType<typeof signCallerIdentity>>) {
  const { search } = new URL(url);
  const sent = request(new URL(`/${search}`, endpoint), { method: 'POST', headers }).end();
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, body: await text(response) };
}

describeWithS3('a signed GetCallerIdentity', () => {
  let aws: EmulatedS3;
  let user: AwsCredentialIdentity;

  beforeAll(async () => {
    aws = await startEmulatedS3();
    // Who may do nothing at all may ask who he is; a policy must say something, though.
    user = await aws.createUser('workload', { 'arn:aws:s3:::none/*': ['s3:GetObject'] });
  }, startTimeoutMs);
  afterAll(() => aws?.[Symbol.asyncDispose]());
  beforeEach(() => void vi.stubEnv('AWS_REGION', 'eu-central-1'));
  afterEach(() => void vi.unstubAllEnvs());

  const sign = (credentials: AwsCredentialIdentity) => {
    const own = createAws({ clock: systemClock, environment: {} });
    const aws = { ...own, credentials: () => async () => credentials };
    return signCallerIdentity(aws, { 'x-goog-cloud-target-resource': '//iam.googleapis.com/projects/1' });
  };

  test('tells who this process is, to the endpoint of its region', async () => {
    const signed = await sign(user);
    expect(new URL(signed.url).origin).toBe('https://sts.eu-central-1.amazonaws.com');
    const answer = await send(aws.endpoint, signed);
    expect(answer.body).toContain('<Arn>arn:aws:iam::000000000000:user/workload</Arn>');
  });

  test('is of no use with another reader, or by another key', async () => {
    const signed = await sign(user);
    const headers = { ...signed.headers, 'x-goog-cloud-target-resource': '//iam.googleapis.com/projects/2' };
    const forged = await sign({ ...user, secretAccessKey: 'another' });
    for (const given of [{ ...signed, headers }, forged]) {
      expect((await send(aws.endpoint, given)).status).toBe(403);
    }
  });
});
