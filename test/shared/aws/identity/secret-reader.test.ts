import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AwsIdentities } from '../../../../shared/aws/identity/aws-identity.ts';
import { createSecretReader } from '../../../../shared/aws/identity/secret-reader.ts';
import { systemClock, systemRandomness } from '../../../../shared/runtime/context/system.ts';
import { type AwsEndpoints, startAwsEndpoints } from '../../../support/aws-endpoints.ts';
import { makeTempDir, type TempDir } from '../../../support/temp-dir.ts';

const planted = 'planted-secret';

let dir: TempDir;
let aws: AwsEndpoints;

beforeEach(async () => {
  dir = await makeTempDir();
  aws = await startAwsEndpoints(dir.path);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

const reader = () =>
  createSecretReader({
    identities: new AwsIdentities(systemClock),
    clock: systemClock,
    randomness: systemRandomness,
  });

describe('a secret', () => {
  test.each([
    [{ SecretString: 'apiVersion: v1' }, {}, 'apiVersion: v1'],
    [{ SecretBinary: Buffer.from('apiVersion: v2').toString('base64') }, {}, 'apiVersion: v2'],
    [{ SecretString: '{"prod": "apiVersion: v3"}' }, { key: 'prod' }, 'apiVersion: v3'],
  ])('is read: %j, %j', async (secret, reference, text) => {
    aws.secrets.set('kube', secret);
    expect(await reader().read({ id: 'kube', ...reference })).toBe(text);
  });

  test('is looked for in its region', async () => {
    aws.secrets.set('kube', { SecretString: planted });
    await reader().read({ id: 'kube', region: 'us-gov-west-1' });
    expect(aws.calls).toMatchObject([{ region: 'us-gov-west-1', parameters: { SecretId: 'kube' } }]);
  });

  test.each([
    [
      { status: 400, code: 'AccessDeniedException', message: 'User is not authorized.' },
      {},
      'cannot read the secret kube in eu-west-1: AccessDeniedException: User is not authorized.: allow secretsmanager:GetSecretValue',
    ],
    [
      { status: 400, code: 'ResourceNotFoundException', message: 'No such secret.' },
      {},
      'cannot read the secret kube in eu-west-1: ResourceNotFoundException: No such secret.: check its name',
    ],
    [
      { SecretString: planted },
      { key: 'prod' },
      'the secret kube is no JSON: expected an object with the key "prod"',
    ],
    [
      { SecretString: JSON.stringify({ dev: planted, prod: {} }) },
      { key: 'prod' },
      'the secret kube has no text under the key "prod"',
    ],
  ])('that cannot be read says why and never shows itself: %j', async (secret, reference, message) => {
    aws.secrets.set('kube', secret);
    const error = await reader()
      .read({ id: 'kube', ...reference })
      .catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(message);
    expect(JSON.stringify([error, (error as Error).stack, (error as Error).cause])).not.toContain(planted);
  });
});
