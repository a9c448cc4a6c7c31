import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FailedOperationError } from '#core/errors.ts';
import {
  assertCredentialsUsable,
  createAuthorizer,
  withCredentials,
} from '#providers/artifacts/download/authorization.ts';
import { CredentialsRefusedError } from '#providers/artifacts/download/credentials-refused.ts';
import type { SecretReference } from '#settings/secret-reference.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { createTestClock, createTestLog } from '../options.ts';

const url = new URL('https://example.com/');
const owner = { name: 'a', context: 'account a' };
const noSecrets = { clock: createTestClock(), log: createTestLog() };

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
    expect((await createAuthorizer(credentials, owner, noSecrets)(url))?.authorization).toBe(header);
  });

  test('prefers files, and reads them each time', async () => {
    await using dir = await makeTempDir();
    const tokenFile = path.join(dir.path, 'token');
    const usernamePasswordFile = path.join(dir.path, 'login');
    const login = { username: 'x', password: 'x', usernamePasswordFile };
    const byToken = createAuthorizer({ ...login, token: 'x', tokenFile }, owner, noSecrets);
    const byLogin = createAuthorizer(login, owner, noSecrets);
    await writeFile(usernamePasswordFile, 'ann:pass\n');
    await writeFile(tokenFile, 'first\n');
    expect((await byLogin(url))?.authorization).toBe(toBasic('ann:pass'));
    expect((await byToken(url))?.authorization).toBe('token first');
    await writeFile(tokenFile, 'second\r\n');
    expect((await byToken(url))?.authorization).toBe('token second');
  });

  test('says which file cannot be read', async () => {
    await using dir = await makeTempDir();
    const tokenFile = path.join(dir.path, 'token');
    await rm(tokenFile, { force: true });
    await expect(createAuthorizer({ tokenFile }, owner, noSecrets)(url)).rejects.toThrow(
      new FailedOperationError('account a: tokenFile: the file cannot be read'),
    );
  });
});

describe('credentials that are secrets', () => {
  /** A reader of secrets that has these, by their id, and counts. */
  function startSecrets(texts: { [id: string]: string }) {
    let reads = 0;
    const follow = async ({ id }: SecretReference) => {
      reads += 1;
      const text = texts[id];
      if (text === undefined) throw new Error(`cannot read the secret ${id}`);
      return { text, versionId: text, asOfMs: clock.now(), readAgainAtMs: clock.now() + 300_000 };
    };
    const clock = createTestClock();
    const secrets = { follow, read: async () => '', readRoles: async () => undefined };
    const options = { services: { secrets }, clock, log: createTestLog() };
    return { texts, clock, count: () => reads, options };
  }

  test.each([
    [{ token: 'encrypted:ssm!n:a' }, 'token abc'],
    [{ tokenFile: 'encryptedFile:ssm!n:a' }, 'token abc'],
    [{ username: 'ann', password: 'secret://secrets-manager?r=eu-west-1&s=b' }, toBasic('ann:pä ss')],
    [{ usernamePasswordFile: 'encryptedFile:s3!r:eu-west-1!b:c!f:d' }, toBasic('ann:pass')],
  ])('are read when they are first needed: %j', async (credentials, header) => {
    const { options, count } = startSecrets({ a: 'abc\n', b: 'pä ss', 'c/d': 'ann:pass\n' });
    const authorize = createAuthorizer(credentials, owner, options);
    expect(count()).toBe(0);
    expect((await authorize(url))?.authorization).toBe(header);
    await authorize(url);
    expect(count()).toBe(1);
  });

  test('are read again when they are refused, and what was refused is sent once more then', async () => {
    const { texts, clock, options } = startSecrets({ a: 'old' });
    const authorize = createAuthorizer({ token: 'encrypted:ssm!n:a' }, owner, options);
    const sent: unknown[] = [];
    const download = async (credentials?: { readonly [name: string]: string }) => {
      sent.push(credentials?.['authorization']);
      if (credentials?.['authorization'] !== 'token new') throw new CredentialsRefusedError('refused');
      return 'content';
    };
    await expect(withCredentials(authorize, url, download)).rejects.toThrow('refused');
    expect(sent).toEqual(['token old']);
    texts['a'] = 'new';
    clock.advance(11_000);
    expect(await withCredentials(authorize, url, download)).toBe('content');
    expect(sent).toEqual(['token old', 'token old', 'token new']);
  });

  test('say which cannot be read or sent, without themselves', async () => {
    const { options } = startSecrets({ bad: 'planted planted' });
    const say = (token: string) =>
      createAuthorizer({ token }, owner, options)(url).catch((error: Error) => error.message);
    expect(await say('encrypted:ssm!n:away')).toBe('account a: token: cannot read the secret away');
    expect(await say('encrypted:ssm!n:bad')).toBe(
      'account a: token: the secret has blanks or letters beyond ASCII, which no header can carry',
    );
  });
});

describe('assertCredentialsUsable', () => {
  test.each([
    [{ token: 'encrypted:vault!e:a' }, 'local', 'account a: token: the secret engine vault is not supported'],
    [{ appPrivateKey: 'encrypted:ssm!n:a' }, 'local', 'account a: appPrivateKey: expected the value itself'],
    [
      { token: 'encrypted:ssm!n:a' },
      'deployed',
      'account a: token: deployed, artifact accounts stand in a secret of their own: give the value itself',
    ],
  ] as const)('refuses %j, %s', (credentials, placement, message) => {
    expect(() => assertCredentialsUsable(credentials, 'account a', placement)).toThrow(message);
  });

  test('accepts references to secrets on one machine', () => {
    const credentials = { token: 'encrypted:ssm!n:a', tokenFile: 'encryptedFile:ssm!n:a b' };
    expect(() => assertCredentialsUsable(credentials, 'account a', 'local')).not.toThrow();
  });

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
