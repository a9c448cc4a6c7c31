import { expect, test } from 'vitest';
import { toAwsFailure } from '#platform/ports/aws-failure.ts';

const call = { what: 'cannot assume the role r', whenDenied: 'allow it' };

/** An error as the SDK throws it. */
function createError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

test('says what was wanted, what AWS said, and what to do', () => {
  const words = 'User: arn:aws:sts::1:assumed-role/a is not authorized to perform: sts:AssumeRole';
  expect(toAwsFailure(createError('AccessDenied', words), call).message).toBe(
    `cannot assume the role r: AccessDenied: ${words}: allow it`,
  );
});

test.each([
  [
    "Authorization header requires 'Signature' parameter. Authorization=AWS4-HMAC-SHA256 Credential=AKIAplanted",
    /header requires 'Signature' parameter\.$/,
  ],
  ['The request signature does not match\nX-Amz-Security-Token:planted', /does not match: the credentials/],
  ['bad request: x-amz-security-token=planted', /: bad request: the credentials/],
  ['{"SessionToken":"planted"}', /SignatureDoesNotMatch: \{": the credentials/],
  ['Command failed: /bin/vault --token planted', /SignatureDoesNotMatch: the credentials/],
])('leaves out what is quoted: %s', (words, expected) => {
  const code = expected.source.includes('parameter') ? 'IncompleteSignature' : 'SignatureDoesNotMatch';
  const { message } = toAwsFailure(createError(code, words), call);
  expect(message).toMatch(expected);
  expect(message).not.toContain('planted');
});
