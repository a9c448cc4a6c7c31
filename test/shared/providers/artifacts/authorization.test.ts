import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FailedOperationError } from '../../../../shared/core/errors.ts';
import {
  assertCredentialsUsable,
  createAuthorizer,
} from '../../../../shared/providers/artifacts/authorization.ts';
import { makeTempDir } from '../../../support/temp-dir.ts';

const url = new URL('https://example.com/');

function toBasic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

describe('createAuthorizer', () => {
  test.each([
    [{}, undefined],
    [{ username: 'ann' }, undefined],
    [{ username: 'ann', password: '' }, undefined],
    [{ username: 'ann', password: 'pä:ss' }, toBasic('ann:pä:ss')],
    [{ token: 'abc' }, 'token abc'],
    [{ username: 'ann', password: 'pass', token: 'abc' }, 'token abc'],
  ])('makes of %j the header %s', async (credentials, header) => {
    expect(await createAuthorizer(credentials, 'account a')(url)).toBe(header);
  });

  test('prefers files, and reads them each time', async () => {
    await using dir = await makeTempDir();
    const tokenFile = path.join(dir.path, 'token');
    const usernamePasswordFile = path.join(dir.path, 'login');
    const login = { username: 'x', password: 'x', usernamePasswordFile };
    const byToken = createAuthorizer({ ...login, token: 'x', tokenFile }, 'account a');
    const byLogin = createAuthorizer(login, 'account a');

    await writeFile(usernamePasswordFile, 'ann:pass\n');
    await writeFile(tokenFile, 'first\n');
    expect(await byLogin(url)).toBe(toBasic('ann:pass'));
    expect(await byToken(url)).toBe('token first');

    await writeFile(tokenFile, 'second\r\n');
    expect(await byToken(url)).toBe('token second');
  });

  test('says which file cannot be read', async () => {
    await using dir = await makeTempDir();
    const tokenFile = path.join(dir.path, 'token');
    await rm(tokenFile, { force: true });

    await expect(createAuthorizer({ tokenFile }, 'account a')(url)).rejects.toThrow(
      new FailedOperationError('account a: tokenFile: the file cannot be read'),
    );
  });
});

describe('assertCredentialsUsable', () => {
  test.each(['usernamePasswordFile', 'tokenFile', 'appPrivateKeyPath'])('refuses %s when deployed', (key) => {
    const credentials = { [key]: '/secrets/planted' };

    expect(() => assertCredentialsUsable(credentials, 'account a', 'local')).not.toThrow();
    expect(() => assertCredentialsUsable(credentials, 'account a', 'deployed')).toThrow(
      `account a: ${key}: deployed functions read no files, give the value itself`,
    );
  });

  test('accepts values, and empty files, when deployed', () => {
    const credentials = { username: 'ann', password: 'pa$$', token: undefined, tokenFile: '' };

    expect(() => assertCredentialsUsable(credentials, 'account a', 'deployed')).not.toThrow();
  });

  test.each(['planted\n', 'plant ed', 'plänted'])(
    'refuses a token that no header can carry (%j)',
    (token) => {
      expect(() => assertCredentialsUsable({ token }, 'account a', 'local')).toThrow(
        /^account a: token: expected no blanks, line breaks or letters beyond ASCII$/,
      );
    },
  );

  test('refuses a placeholder that nothing filled in', () => {
    const token = '$' + '{PLANTED_TOKEN}';

    expect(() => assertCredentialsUsable({ token }, 'account a', 'local')).toThrow(
      /^account a: token: its placeholder has no value$/,
    );
  });
});
