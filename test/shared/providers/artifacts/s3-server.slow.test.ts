import type { AwsCredentialIdentity } from '@smithy/types';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { FailedOperationError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';
import { openS3Sources } from '#providers/artifacts/s3.ts';
import { describeWithS3, type EmulatedS3, startEmulatedS3 } from '#test/support/artifacts/emulated-s3.ts';
import { runStreamTasks } from '#test/support/conformance/artifact-streams.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createTestHost } from '#test/support/services/test-host.ts';
import { createTestOptions, neverAborted, readBytes } from './options.ts';

/** Installing the emulator may take this long. */
const startTimeoutMs = 600_000;

const mayRead = {
  'arn:aws:s3:::configs/*': ['s3:GetObject', 's3:GetObjectVersion'],
  // Who may not list a bucket learns nothing of what is missing in it.
  'arn:aws:s3:::configs': ['s3:ListBucket'],
};

/** An account of a server of its own, with a key. */
function toAccount({ endpoint, region }: EmulatedS3, key: AwsCredentialIdentity): JsonObject {
  return {
    ...{ apiEndpoint: endpoint, apiRegion: region },
    ...{ awsAccessKeyId: key.accessKeyId, awsSecretAccessKey: key.secretAccessKey },
  };
}

function toSettings(account: JsonObject): JsonObject {
  const s3 = { enabled: true, accounts: [{ name: 'files', ...account }] };
  return { artifacts: { urlRestrictions: { allowedIps: ['127.0.0.1'] }, s3 } };
}

describeWithS3('s3/object from an S3 that checks signatures and permissions', () => {
  let s3: EmulatedS3;
  let reader: AwsCredentialIdentity;

  beforeAll(async () => {
    s3 = await startEmulatedS3();
    await s3.createBucket('configs');
    reader = await s3.createUser('reader', mayRead);
  }, startTimeoutMs);
  afterAll(() => s3?.[Symbol.asyncDispose]());
  afterEach(() => void vi.unstubAllEnvs());

  async function read(account: JsonObject, reference: string, version?: string): Promise<Buffer> {
    const place = { placement: 'local', environment: { AWS_ENDPOINT_URL: s3.endpoint } } as const;
    const services = createTestHost({ clock: systemClock, ...place });
    // Signatures are good for a quarter of an hour.
    const options = createTestOptions(toSettings(account), { services, clock: systemClock });
    await using source = openS3Sources(options).sources[0];
    const artifact = { type: 's3/object', reference, ...(version && { version }) };
    return Buffer.from(await readBytes((await source?.fetch(artifact, neverAborted()))?.body));
  }

  test('is the newest version, or the one that the artifact names', async () => {
    const first = await s3.putObject('configs', 'shop/web.yml', 'version: 1');
    const second = await s3.putObject('configs', 'shop/web.yml', 'version: 2');
    const account = toAccount(s3, reader);
    expect(String(await read(account, 's3://configs/shop/web.yml'))).toBe('version: 2');
    expect(String(await read(account, 's3://configs/shop/web.yml', first))).toBe('version: 1');
    expect(String(await read(account, 's3://configs/shop/web.yml', second))).toBe('version: 2');
  });

  test.each([
    ['a b/ü+~*(1)?#&=.yml', 'a%20b/%C3%BC%2B~%2A%281%29%3F%23%26%3D.yml'],
    ['a%2Fb.yml', 'a%252Fb.yml'],
    ["it's.yml", 'it%27s.yml'],
    ['x//y', 'x//y'],
  ])('is found by the key %j', async (key, path) => {
    await s3.putObject('configs', path, key);
    expect(String(await read(toAccount(s3, reader), `s3://configs/${key}`))).toBe(key);
  });

  test.each(['s3://configs/missing.yml', 's3://missing/web.yml'])('is not found: %s', async (reference) => {
    const failure = await getFailure(read(toAccount(s3, reader), reference));
    expect(failure).toBeInstanceOf(NotFoundError);
  });

  test('is refused to another key, and to who may not read it', async () => {
    await s3.putObject('configs', 'secret.yml', 'a: b');
    const stranger = await s3.createUser('stranger', { 'arn:aws:s3:::others/*': ['s3:GetObject'] });
    for (const key of [{ ...reader, secretAccessKey: 'planted' }, stranger]) {
      const failure = await getFailure(read(toAccount(s3, key), 's3://configs/secret.yml'));
      expect(failure).toBeInstanceOf(FailedOperationError);
      expect(String(failure)).toContain('403 status code');
      expect(String(failure)).not.toContain('planted');
    }
  });

  test('of 50 MiB streams through 30 MiB of memory', async () => {
    const bytes = 50 * 2 ** 20;
    await s3.putObject('configs', 'small', 'x');
    await s3.putObject('configs', 'large', Buffer.alloc(bytes, 'x'));
    const [small, large] = ['small', 'large'].map((name) => ({
      ...{ type: 's3/object', reference: `s3://configs/${name}` },
    }));
    const task = { opener: 'openS3Sources', settings: toSettings(toAccount(s3, reader)) };
    const tasks = small && large ? [{ ...task, small, large }] : [];
    const report = await runStreamTasks(tasks, ['--max-old-space-size=30']);
    expect(report.bytes).toEqual([bytes]);
    expect(report.grownMiB).toBeLessThan(30);
  }, 120_000);

  test('is read as the role of the account, by who may assume it', async () => {
    await s3.putObject('configs', 'role.yml', 'a: b');
    const process = await s3.createUser('process', { '*': ['sts:AssumeRole'] });
    const roleArn = await s3.createRole('reader', 'busdriver', mayRead);
    vi.stubEnv('AWS_ACCESS_KEY_ID', process.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', process.secretAccessKey);
    vi.stubEnv('AWS_SESSION_TOKEN', undefined);
    vi.stubEnv('AWS_ENDPOINT_URL_STS', s3.endpoint);
    const account = { region: s3.region };
    const reading = (role: JsonObject) => read({ ...account, ...role }, 's3://configs/role.yml');
    await expect(reading({})).rejects.toThrow('403 status code');
    await expect(reading({ roleArn })).rejects.toThrow("artifacts.s3 account 'files': ");
    expect(String(await reading({ roleArn, externalId: 'busdriver' }))).toBe('a: b');
  });
});
