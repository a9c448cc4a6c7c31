import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FailedOperationError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { createRepository, type TestRepository } from '#test/support/artifacts/git-server.ts';
import {
  createSshKey,
  describeWithSshServer,
  type SshKey,
  type SshServer,
  startSshServer,
} from '#test/support/artifacts/ssh-server.ts';
import { makeTempDir, type TempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { createTestLog } from '../options.ts';
import { openGitAccount, readArchive } from './git-archives.ts';

const passphrase = `planted "$HOME" \\ 'x' ü`;

describeWithSshServer('a repository behind a real sshd', () => {
  let dir: TempDir;
  let repository: TestRepository;
  let keys: Readonly<Record<'open' | 'locked' | 'foreign', SshKey>>;
  const ids = { first: '', second: '' };

  beforeAll(async () => {
    dir = await makeTempDir();
    keys = {
      open: await createSshKey(join(dir.path, 'open')),
      locked: await createSshKey(join(dir.path, 'locked'), passphrase),
      foreign: await createSshKey(join(dir.path, 'foreign')),
    };
    repository = await createRepository(join(dir.path, "ann's shop!; $(id)"));
    ids.first = await repository.commit({ 'README.md': 'first', 'deploy/web.yml': 'kind: Pod' });
    ids.second = await repository.commit({ 'README.md': 'second' });
    await repository.git('tag', '--annotate', '--message', 'tag', 'v1', ids.first);
  });
  afterAll(async () => {
    await dir[Symbol.asyncDispose]();
  });

  const startServer = (takesVariables = true) =>
    startSshServer({ takesVariables, authorized: [keys.open, keys.locked] });

  const toReference = ({ user, port }: SshServer, path = repository.path) =>
    `ssh://${user}@127.0.0.1:${port}${encodeURI(path)}`;

  /** Writes the keys of known hosts. @returns what an account has of them */
  async function know({ port, hostKey }: SshServer, publicKey = hostKey): Promise<JsonObject> {
    const file = join(dir.path, `known hosts of ${port}`);
    await writeFile(file, `[127.0.0.1]:${port} ${publicKey}\n`);
    return { sshKnownHostsFilePath: file };
  }

  /** Opens an account; whatever becomes of it, its log has no secret. */
  function open(account: JsonObject) {
    const log = createTestLog();
    const opened = openGitAccount(
      { sshPrivateKeyFilePath: keys.open.path, ...account },
      { log, environment: { PATH: process.env['PATH'], HOME: dir.path } },
    );
    return {
      ...opened,
      log,
      async [Symbol.asyncDispose]() {
        await opened[Symbol.asyncDispose]();
        const [, secret = 'nothing'] = (await readFile(keys.locked.path, 'utf8')).split('\n');
        expect(log.lines.join()).not.toContain('planted');
        expect(log.lines.join()).not.toContain(secret);
        expect(log.lines.join()).not.toContain('PRIVATE KEY');
      },
    };
  }

  describe.each([
    ['takes over the version of the protocol', true],
    ['takes over no variables', false],
  ])('which %s', (_, takesVariables) => {
    let server: SshServer;
    beforeAll(async () => {
      server = await startServer(takesVariables);
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
    });

    test.each<[string, () => string]>([
      ['a branch', () => 'master'],
      ['a tag', () => 'v1'],
      ['a commit', () => ids.first],
      ['digits of a commit', () => ids.first.slice(0, 7)],
    ])('is archived by %s as git archive does it', async (_what, version) => {
      await using account = open(await know(server));
      const archived = await account.fetch({ reference: toReference(server), version: version() });
      const expected = await repository.gitBytes('archive', '--format=tgz', version());
      expect([...(await readArchive(archived))]).toEqual([...(await readArchive(expected))]);
    });

    test('is not there: 404', async () => {
      await using account = open(await know(server));
      const failure = account.fetch({ reference: toReference(server, '/nothing/here') });
      await expect(failure).rejects.toBeInstanceOf(NotFoundError);
    });
  });

  describe('and its key', () => {
    let server: SshServer;
    beforeAll(async () => {
      server = await startServer();
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
    });

    test('must be the one that is known', async () => {
      const known = await know(server, keys.foreign.publicKey);
      await using account = open(known);
      const failure = account.fetch({ reference: toReference(server) });
      await expect(failure).rejects.toBeInstanceOf(FailedOperationError);
      await expect(failure).rejects.toThrow('its key is not among the known hosts (sshKnownHostsFilePath)');
    });

    test('must be known', async () => {
      const file = join(dir.path, 'nobody');
      await writeFile(file, '');
      await using account = open({ sshKnownHostsFilePath: file });
      const failure = account.fetch({ reference: toReference(server) });
      await expect(failure).rejects.toThrow('its key is not among the known hosts (sshKnownHostsFilePath)');
      expect(await readFile(file, 'utf8')).toBe('');
    });

    test('may be any where the account says so', async () => {
      const known = await know(server, keys.foreign.publicKey);
      await using account = open({ ...known, sshTrustUnknownHosts: true });
      const archived = await account.fetch({ reference: toReference(server), location: 'README.md' });
      expect([...(await readArchive(archived)).keys()]).toEqual(['README.md']);
    });

    test.each([
      ['the account', async () => ({ sshPrivateKeyPassphrase: passphrase })],
      [
        'a program',
        async () => {
          const text = `printf '%s\\n' '${passphrase.replaceAll("'", "'\\''")}'`;
          return { sshPrivateKeyPassphraseCmd: await writeProgram(join(dir.path, 'askpass'), text) };
        },
      ],
    ])("is met by the account's own with the passphrase of %s", async (_, toSettings) => {
      const locked = { sshPrivateKeyFilePath: keys.locked.path, ...(await toSettings()) };
      await using account = open({ ...(await know(server)), ...locked });
      const archived = await account.fetch({ reference: toReference(server), location: 'README.md' });
      expect([...(await readArchive(archived)).keys()]).toEqual(['README.md']);
    });

    test.each([
      ['with another passphrase', () => ({ path: keys.locked.path, phrase: 'planted-other' })],
      ['without its passphrase', () => ({ path: keys.locked.path, phrase: '' })],
      ['that the host does not know', () => ({ path: keys.foreign.path, phrase: '' })],
      ['that is not there', () => ({ path: join(dir.path, 'none'), phrase: '' })],
    ])('is not met by a key %s', async (_, toKey) => {
      const { path, phrase } = toKey();
      const account = { sshPrivateKeyFilePath: path, sshPrivateKeyPassphrase: phrase };
      await using opened = open({ ...(await know(server)), ...account });
      const failure = opened.fetch({ reference: toReference(server) });
      await expect(failure).rejects.toBeInstanceOf(FailedOperationError);
      await expect(failure).rejects.toThrow(/was refused|or its passphrase cannot be used/);
      await expect(failure).rejects.not.toThrow('planted');
    });
  });
});
