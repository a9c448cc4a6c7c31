import { describe, expect, test } from 'vitest';
import {
  isSecretReference,
  parseSecretReference,
} from '../../../../shared/core/settings/secret-reference.ts';

describe('parseSecretReference', () => {
  test.each([
    ['team/kubeconfig', { id: 'team/kubeconfig' }],
    [
      'arn:aws-cn:secretsmanager:cn-north-1:111122223333:secret:kube-AbCdEf',
      { id: 'arn:aws-cn:secretsmanager:cn-north-1:111122223333:secret:kube-AbCdEf', region: 'cn-north-1' },
    ],
    ['encrypted:secrets-manager!r:eu-west-1!s:kube', { id: 'kube', region: 'eu-west-1' }],
    ['encryptedFile:secrets-manager!s:kube!r:eu-west-1', { id: 'kube', region: 'eu-west-1' }],
    [
      'encrypted:secrets-manager!r:eu-west-1!s:arn:aws:secretsmanager:x!k:prod:a',
      { id: 'arn:aws:secretsmanager:x', region: 'eu-west-1', key: 'prod:a' },
    ],
  ])('%s', (text, reference) => {
    expect(parseSecretReference(text, 'at')).toEqual(reference);
  });

  test.each([
    [
      'encrypted:secrets-manager!s:kube',
      'at: expected encrypted:secrets-manager!r:<region>!s:<secret>!k:<key>',
    ],
    ['encrypted:secrets-manager', 'at: expected encrypted:secrets-manager!r:<region>!s:<secret>!k:<key>'],
    ['encrypted:s3!b:x', 'at: expected the name or ARN of a secret in Secrets Manager'],
    ['apiVersion: v1\nkind: Config', 'at: expected the name or ARN of a secret in Secrets Manager'],
    ['', 'at: expected the name or ARN of a secret in Secrets Manager'],
  ])('refuses %j', (text, message) => {
    expect(() => parseSecretReference(text, 'at')).toThrow(message);
  });
});

test.each([
  ['encrypted:secrets-manager!r:a!s:b', true],
  ['encryptedfile:secrets-manager!r:a!s:b', true],
  ['encrypted:secrets-manager-2!r:a!s:b', false],
  ['encrypted:vault!e:a', false],
  ['secrets-manager', false],
])('isSecretReference: %s: %s', (text, expected) => {
  expect(isSecretReference(text)).toBe(expected);
});
