import { cbor } from '@smithy/core/cbor';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { createAws } from '#platform/aws/identity/aws-access.ts';
import { createSecretReader } from '#platform/aws/identity/secret-reader.ts';
import { readEnvironment } from '#platform/config.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { parseSecretReference } from '#settings/secret-reference.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';

const planted = 'planted-secret';

let aws: AwsEndpoints;

beforeEach(async () => {
  aws = await startAwsEndpoints();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
});

const reader = (placement: 'local' | 'deployed' = 'deployed') =>
  createSecretReader({
    aws: createAws({ clock: systemClock, environment: readEnvironment() }),
    clock: systemClock,
    randomness: systemRandomness,
    placement,
    environment: readEnvironment(),
    parseYaml: async (text) => parse(text),
  });

/** What a reference in Spinnaker's syntax reads as, or why it cannot be read. */
const readText = (text: string, placement?: 'local' | 'deployed') =>
  reader(placement)
    .read(parseSecretReference(text, 'at'))
    .catch((error: Error) => error.message);

describe('a secret', () => {
  const refusal = (code: string) => ({ status: 400, code, message: 'No.' });
  const unread = 'cannot read the secret kube in eu-west-1: ';
  const prod = { key: 'prod' };

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
      refusal('AccessDeniedException'),
      {},
      `${unread}AccessDeniedException: No.: allow secretsmanager:GetSecretValue`,
    ],
    [refusal('ResourceNotFoundException'), {}, `${unread}ResourceNotFoundException: No.: check its name`],
    [{ SecretString: planted }, prod, 'the secret kube is no JSON: expected an object with the key "prod"'],
    [
      { SecretString: `{"dev":"${planted}","prod":{}}` },
      prod,
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

describe('a reference reads', () => {
  test.each([
    ['encrypted:secrets-manager!r:eu-west-1!s:team/db!k:password', 'of secrets manager'],
    ['encryptedFile:secrets-manager!r:eu-west-1!s:team/file', 'a whole\nfile'],
    ['encrypted:s3!r:eu-west-1!b:spin!f:a #1? folder/secrets.yml!k:db.prod.password', 'of yaml'],
    ['encrypted:s3!r:eu-west-1!b:spin!f:a #1? folder/secrets.yml!k:db.port', '5432'],
    ['encryptedFile:s3!r:eu-west-1!b:spin!f:kubeconfig', 'apiVersion: v1'],
    ['encrypted:ssm!r:eu-west-1!n:/team/token', 'of ssm'],
    ['encrypted:ssm!n:/team/token', 'of ssm'],
    ['secret://secrets-manager?r=eu-west-1&s=opaque-json&k=user', 'blade'],
    ['secret://secrets-manager?r=eu-west-1&s=opaque-yaml&k=user', 'of opaque yaml'],
    ['secret://secrets-manager?r=eu-west-1&s=opaque-cbor&k=pass%20word', 'hunter2'],
    ['secret://secrets-manager?r=eu-west-1&s=text', 'the whole text'],
  ])('%s', async (text, expected) => {
    const type = 'spinnaker:user-secret-type';
    const encoding = 'spinnaker:encoding';
    const binary = Buffer.from(cbor.serialize({ 'pass word': 'hunter2' })).toString('base64');
    aws.secrets
      .set('team/db', { SecretString: '{"password":"of secrets manager"}' })
      .set('team/file', { SecretString: 'a whole\nfile' })
      .set('opaque-json', { SecretString: '{"user":"blade"}' })
      .set('opaque-yaml', { SecretString: 'user: of opaque yaml\n' })
      .set('opaque-cbor', { SecretBinary: binary })
      .set('text', { SecretString: 'the whole text' });
    aws.tags
      .set('opaque-json', { [type]: 'opaque' })
      .set('opaque-yaml', { [type]: 'opaque', [encoding]: 'yaml' })
      .set('opaque-cbor', { [type]: 'opaque', [encoding]: 'cbor' })
      .set('text', { [type]: 'string' });
    aws.objects
      .set('spin/a #1? folder/secrets.yml', 'db:\n  prod:\n    password: of yaml\n  port: 5432\n')
      .set('spin/kubeconfig', 'apiVersion: v1');
    aws.parameters.set('/team/token', 'of ssm');

    expect(await readText(text)).toBe(expected);
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['eu-west-1']));
    expect(new Set(aws.calls.map(({ accessKeyId }) => accessKeyId))).toEqual(new Set(['AKIAOWN']));
  });

  test('the value itself on one machine, and nowhere else', async () => {
    expect(await readText(`encrypted:noop!v:${planted}`, 'local')).toBe(planted);
    const message = await readText(`encrypted:noop!v:${planted}`, 'deployed');
    expect(message).toContain('the secret engine noop is for one machine');
    expect(message).not.toContain(planted);
  });
});

describe('a reference that cannot be read says why, and shows no secret:', () => {
  const denied = { status: 403, code: 'AccessDenied', message: planted };
  const deniedJson = { status: 400, code: 'AccessDeniedException', message: 'No.' };
  const inS3 = (file: string) => `encrypted:s3!r:eu-west-1!b:spin!f:${file}`;
  const u = 'secret://secrets-manager?r=eu-west-1&s=u';
  const put = (file: string, content: string | typeof denied) => () =>
    aws.objects.set(`spin/${file}`, content);
  const tag = (type: string, encoding?: string) => () =>
    aws.tags.set('u', {
      'spinnaker:user-secret-type': type,
      ...(encoding !== undefined && { 'spinnaker:encoding': encoding }),
    });

  test.each<[reference: string, message: string, arrange: () => unknown]>([
    [
      inS3('away'),
      'cannot read the object spin/away of S3 in eu-west-1: NoSuchKey: check its bucket, its key and its region',
      () => undefined,
    ],
    [
      inS3('denied'),
      'cannot read the object spin/denied of S3 in eu-west-1: AccessDenied: allow s3:GetObject on it',
      put('denied', denied),
    ],
    [inS3('a!k:a.b'), 'the object spin/a in S3 has no text at "a.b"', put('a', `a: {c: ${planted}}`)],
    [
      inS3('a!k:a'),
      'the object spin/a in S3 is no YAML: expected a value at "a"',
      put('a', `a: [${planted}`),
    ],
    [inS3('a!k:constructor.name'), 'in S3 has no text at "constructor.name"', put('a', `a: ${planted}`)],
    [
      inS3('../other/kube'),
      'cannot read the object spin/../other/kube of S3 in eu-west-1: InvalidURI',
      () => aws.objects.set('other/kube', planted),
    ],
    [inS3('large'), 'it has more than 1048576 bytes', put('large', planted.repeat(100_000))],
    [
      'encrypted:ssm!r:eu-west-1!n:away',
      'cannot read the parameter away in eu-west-1: ParameterNotFound: check its name and its region',
      () => undefined,
    ],
    [
      'encrypted:ssm!r:eu-west-1!n:denied',
      'cannot read the parameter denied in eu-west-1: AccessDeniedException: allow ssm:GetParameter on it',
      () => aws.parameters.set('denied', deniedJson),
    ],
    [
      `${u}&k=a`,
      'cannot read the tags of the secret u in eu-west-1: AccessDeniedException',
      () => aws.tags.set('u', deniedJson),
    ],
    [
      `${u}&k=a`,
      'the user secret u needs the tag spinnaker:user-secret-type: expected opaque or string',
      () => undefined,
    ],
    [u, 'the user secret u has members: name one by k=<key>', tag('opaque')],
    [`${u}&k=a`, 'the user secret u is not json, as its tag spinnaker:encoding says', tag('opaque')],
    [`${u}&k=b`, 'the user secret u has no text under the key "b"', tag('opaque', 'yaml')],
    [
      `${u}&k=b`,
      'the user secret u is not cbor, as its tag spinnaker:encoding says',
      () => {
        tag('opaque', 'cbor')();
        aws.secrets.set('u', { SecretBinary: Buffer.from(`\xa3${planted}`, 'latin1').toString('base64') });
      },
    ],
    [`${u}&k=b`, 'u: its tag spinnaker:encoding must be json, yaml or cbor', tag('opaque', planted)],
  ])('%s: %s', async (text, message, arrange) => {
    aws.secrets.set('u', { SecretString: `a: ${planted}` });
    arrange();
    const said = await readText(text);
    expect(said).toContain(message);
    expect(said).not.toContain(planted);
  });

  test('while AWS is busy it is asked again, and not for ever', async () => {
    aws.parameters.set('busy', { status: 500, code: 'InternalServerError', message: planted });
    expect(await readText('encrypted:ssm!r:eu-west-1!n:busy')).toContain('it answers 500');
    expect(aws.countCalls('GetParameter')).toBe(3);
  });
});

test('a user secret says which roles may use it', async () => {
  aws.tags.set('mine', { 'spinnaker:roles': ' dev, sre ,' });
  const of = (text: string) => reader().readRoles(parseSecretReference(text, 'at'));

  expect(await of('secret://secrets-manager?r=eu-west-1&s=mine')).toEqual(['dev', 'sre']);
  expect(await of('secret://secrets-manager?r=eu-west-1&s=open')).toEqual([]);
  expect(await of('encrypted:secrets-manager!r:eu-west-1!s:mine')).toBeUndefined();
});
