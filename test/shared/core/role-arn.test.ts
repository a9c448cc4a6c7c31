import { describe, expect, it } from 'vitest';
import { isSameRole, parseAssumedRoleArn, parseRoleArn } from '#core/role-arn.ts';

function isCallOf(caller: string, role: string): boolean {
  const [one, other] = [parseAssumedRoleArn(caller), parseRoleArn(role)];
  return one !== undefined && other !== undefined && isSameRole(one, other);
}

describe('the role that calls', () => {
  const caller = 'arn:aws:sts::111122223333:assumed-role/edge-7/botocore-session-1';
  const role = 'arn:aws:iam::111122223333:role/edge-7';

  it.each([
    [role],
    // AWS names no path of who calls; the name alone is unique in the account.
    ['arn:aws:iam::111122223333:role/agents/eu/edge-7'],
  ])('is %s', (whose) => {
    expect(isCallOf(caller, whose)).toBe(true);
  });

  it.each([
    ['another account', caller, 'arn:aws:iam::999922223333:role/edge-7'],
    ['another partition', caller, 'arn:aws-cn:iam::111122223333:role/edge-7'],
    ['another name', caller, 'arn:aws:iam::111122223333:role/edge-77'],
    ['a name in another case', caller, 'arn:aws:iam::111122223333:role/Edge-7'],
    ['a part of the path', caller, 'arn:aws:iam::111122223333:role/edge-7/admin'],
    ['a session with the name of the role', 'arn:aws:sts::111122223333:assumed-role/other/edge-7', role],
    ['a user', 'arn:aws:iam::111122223333:user/edge-7', role],
    ['the root', 'arn:aws:iam::111122223333:root', 'arn:aws:iam::111122223333:role/root'],
    ['a federated user', 'arn:aws:sts::111122223333:federated-user/edge-7', role],
  ])('is not one of %s', (_what, who, whose) => {
    expect(isCallOf(who, whose)).toBe(false);
  });

  it.each([
    '',
    'edge-7',
    'arn:aws:iam::111122223333:role/',
    'arn:aws:iam::11112222333:role/edge-7',
    'arn:aws:iam::111122223333:role/*',
    'arn:aws:iam::*:role/edge-7',
    'arn:aws:iam::111122223333:user/edge-7',
    'arn:aws:iam::111122223333:role/edge-7\n',
    `arn:aws:iam::111122223333:role/${'p/'.repeat(600)}edge-7`,
  ])('%j is no ARN of a role', (text) => {
    expect(parseRoleArn(text)).toBeUndefined();
  });
});
