import { describe, expect, test } from 'vitest';
import { isSecretReference, parseSecretReference } from '#settings/secret-reference.ts';

describe('parseSecretReference', () => {
  const arn = 'arn:aws-cn:secretsmanager:cn-north-1:111122223333:secret:kube-AbCdEf';
  const region = 'eu-west-1';
  const secretForm = 'at: expected encrypted:secrets-manager!r:<region>!s:<secret>!k:<key>';

  test.each([
    ['team/kubeconfig', { id: 'team/kubeconfig' }],
    [arn, { id: arn, region: 'cn-north-1' }],
    ['encrypted:secrets-manager!r:eu-west-1!s:kube', { id: 'kube', region: 'eu-west-1' }],
    ['encryptedFile:secrets-manager!s:kube!r:eu-west-1', { id: 'kube', region: 'eu-west-1' }],
    [`encrypted:secrets-manager!r:eu-west-1!s:${arn}!k:prod:a`, { id: arn, region, key: 'prod:a' }],
    [
      'encrypted:s3!b:spin!f:a/b.yml!r:eu-west-1!k:a.b',
      { engine: 's3', id: 'spin/a/b.yml', region, key: 'a.b' },
    ],
    ['encryptedFile:s3!b:spin!f:b!r:eu-west-1', { engine: 's3', id: 'spin/b', region }],
    ['encrypted:SSM!r:eu-west-1!n:/a', { engine: 'ssm', id: '/a', region }],
    ['encrypted:ssm!n:/a', { engine: 'ssm', id: '/a' }],
    ['encrypted:noop!v:a:b', { engine: 'noop', id: 'noop', value: 'a:b' }],
    [
      'secret://secrets-manager?r=eu-west-1&s=team%2Fdb&k=a%20b',
      { id: 'team/db', region, key: 'a b', isUserSecret: true },
    ],
  ])('%s', (text, reference) => {
    expect(parseSecretReference(text, 'at')).toEqual(reference);
  });

  test.each([
    ['encrypted:secrets-manager!s:kube', secretForm],
    ['encrypted:secrets-manager', secretForm],
    ['encrypted:s3!b:x', 'at: expected encrypted:s3!r:<region>!b:<bucket>!f:<object>!k:<path in YAML>'],
    ['encrypted:ssm!r:x', 'at: expected encrypted:ssm!r:<region>!n:<parameter>'],
    ['encrypted:noop', 'at: expected encrypted:noop!v:<value>'],
    [
      'encrypted:vault!e:a!n:b!k:c',
      'at: the secret engine vault is not supported: expected one of secrets-manager, s3, ssm, noop',
    ],
    ['encryptedFile:gcs!b:a!f:b', 'at: the secret engine gcs is not supported'],
    ['encrypted:google-secrets-manager!p:a', 'at: the secret engine google-secrets-manager is not supported'],
    ['encrypted:k8s!n:a!k:b', 'at: the secret engine k8s is not supported'],
    ['encrypted:constructor!n:a', 'at: the secret engine is not supported'],
    ['secret://vault?s=a', 'at: the secret engine vault is not supported'],
    ['secret://s3?r=a&b=c&f=d', 'at: user secrets of the engine s3 are not supported'],
    ['secret://secrets-manager?s=a', 'at: expected secret://secrets-manager?r=<region>&s=<secret>&k=<key>'],
    ['secret://secrets-manager', 'at: expected secret://secrets-manager?r='],
    ['secret://secrets-manager?r=%&s=a', 'at: expected secret://secrets-manager?r='],
    ['secretFile://secrets-manager?r=a&s=b', 'at: expected secret://secrets-manager?r='],
    ['apiVersion: v1\nkind: Config', 'at: expected the name or ARN of a secret in Secrets Manager'],
    ['', 'at: expected the name or ARN of a secret in Secrets Manager'],
  ])('refuses %j', (text, message) => {
    expect(() => parseSecretReference(text, 'at')).toThrow(message);
  });
});

test.each([
  ['encrypted:secrets-manager!r:a!s:b', true],
  ['encryptedfile:secrets-manager!r:a!s:b', true],
  ['encrypted:vault!e:a', true],
  ['encrypted:vault', true],
  ['secret://vault?a', true],
  ['secrets://vault?a', false],
  ['encrypted: yes', false],
  ['kind: Secret # encrypted:vault!e:a', false],
  ['secrets-manager', false],
])('isSecretReference: %s: %s', (text, expected) => {
  expect(isSecretReference(text)).toBe(expected);
});
