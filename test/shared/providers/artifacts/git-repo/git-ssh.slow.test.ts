import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessDeniedError, FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { SourceOptions } from '#providers/artifacts/download/source.ts';
import { createRepository, type TestRepository } from '#test/support/artifacts/git-server.ts';
import { type SshProgram, sshScripts, writeSshProgram } from '#test/support/artifacts/ssh-program.ts';
import { makeTempDir, type TempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { createTestLog } from '../options.ts';
import { openGitAccount, readArchive } from './git-archives.ts';

const keyFile = { sshPrivateKeyFilePath: '/keys/id' };
let dir: TempDir;
let repository: TestRepository;
let reference: string;
const ids = { first: '', second: '' };

beforeAll(async () => {
  dir = await makeTempDir();
  repository = await createRepository(join(dir.path, "ann's shop!; $(id)"));
  reference = `git@127.0.0.1:${repository.path}`;
  ids.first = await repository.commit({ 'README.md': 'first', 'deploy/web.yml': 'kind: Pod' });
  ids.second = await repository.commit({ 'README.md': 'second' });
  await repository.git('tag', '--annotate', '--message', 'tag', 'v1', ids.first);
});
afterAll(() => dir[Symbol.asyncDispose]());

function open(ssh: SshProgram, account: JsonObject = {}, more: Partial<SourceOptions> = {}) {
  return openGitAccount({ ...keyFile, ...account }, { environment: ssh.environment, ...more });
}

describe.each(Object.entries(sshScripts))('a repository of a host that is a %s (SSH)', (_, script) => {
  test.each<{ what: string; version: () => string }>([
    { what: 'a branch', version: () => 'master' },
    { what: 'a tag', version: () => 'v1' },
    { what: 'a commit', version: () => ids.first },
    { what: 'digits of a commit', version: () => ids.first.slice(0, 7) },
    { what: 'digits of a tip', version: () => ids.second.slice(0, 9) },
  ])('is archived by $what as git archive does it', async ({ version }) => {
    await using ssh = await writeSshProgram(script);
    await using account = open(ssh);
    const archived = await readArchive(await account.fetch({ reference, version: version() }));
    const expected = await repository.gitBytes('archive', '--format=tgz', version());
    expect([...archived]).toEqual([...(await readArchive(expected))]);
  });

  test('is called once for a branch', async () => {
    await using ssh = await writeSshProgram(script);
    await using account = open(ssh);
    await account.fetch({ reference, location: 'deploy' });
    expect(await ssh.listCalls()).toHaveLength(1);
  });

  test('has no such version: 404, and the call is over', async () => {
    await using ssh = await writeSshProgram(script);
    await using account = open(ssh);
    await expect(account.fetch({ reference, version: 'nothing' })).rejects.toBeInstanceOf(NotFoundError);
    const [call] = await ssh.listCalls();
    await expect.poll(() => isRunning(call?.pid)).toBe(false);
  });
});

function isRunning(pid: number | undefined): boolean {
  // What has ended and was not waited for is no process that runs.
  return pid !== undefined && existsSync(`/proc/${pid}/exe`);
}

describe('ssh', () => {
  test('is told all by its arguments, and little of this process', async () => {
    await using ssh = await writeSshProgram(sshScripts.newHost);
    const known = { sshKnownHostsFilePath: '/keys/known hosts' };
    await using account = open(ssh, { ...known, urlRestrictions: { allowedDomains: ['localhost'] } });
    const named = `ssh://ann@LOCALHOST:2222${encodeURI(repository.path)}`;
    await account.fetch({ reference: named });
    const [call] = await ssh.listCalls();
    const { args = [], environment } = call ?? {};
    const options = args.filter((_, index) => args[index - 1] === '-o');
    expect(options).toEqual(
      expect.arrayContaining([
        'BatchMode=yes',
        'StrictHostKeyChecking=yes',
        'UserKnownHostsFile="/keys/known hosts"',
        'HostKeyAlias=[localhost]:2222',
        'IdentitiesOnly=yes',
        'PreferredAuthentications=publickey',
        'ConnectTimeout=5',
        'SendEnv=GIT_PROTOCOL',
      ]),
    );
    expect(args.slice(0, 2)).toEqual(['-F', '/dev/null']);
    const [command = '', address, ...before] = args.toReversed();
    expect(before.slice(0, 7).toReversed()).toEqual(['-i', '/keys/id', '-p', '2222', '-l', 'ann', '--']);
    expect(address).toBe('127.0.0.1');
    expect(command).toMatch(/^git-upload-pack '/);
    expect(environment?.get('GIT_PROTOCOL')).toBe('version=2');
    expect(environment?.has('SECRET_OF_PROCESS')).toBe(false);
  });

  test('trusts any host where the account says so', async () => {
    await using ssh = await writeSshProgram(sshScripts.newHost);
    await using account = open(ssh, { sshTrustUnknownHosts: true, sshKnownHostsFilePath: '/keys/known' });
    await account.fetch({ reference });
    const [call] = await ssh.listCalls();
    expect(call?.args).toContain('StrictHostKeyChecking=no');
    expect(call?.args).toContain('UserKnownHostsFile="/dev/null"');
  });

  test('is given the passphrase by a program, which is deleted', async () => {
    const script = `"$SSH_ASKPASS" > "$folder/asked"; echo "$SSH_ASKPASS" > "$folder/program"
      stat -c %a "$SSH_ASKPASS" "$(dirname "$SSH_ASKPASS")" > "$folder/modes"; ${sshScripts.newHost}`;
    await using ssh = await writeSshProgram(script);
    const passphrase = `planted "$HOME" \\ 'x' ü`;
    const log = createTestLog();
    await using account = open(ssh, { sshPrivateKeyPassphrase: passphrase }, { log });
    await account.fetch({ reference });
    expect(await readFile(join(ssh.folder, 'asked'), 'utf8')).toBe(`${passphrase}\n`);
    expect(await readFile(join(ssh.folder, 'modes'), 'utf8')).toBe('700\n700\n');
    const program = (await readFile(join(ssh.folder, 'program'), 'utf8')).trim();
    await expect(stat(dirname(program))).rejects.toThrow('ENOENT');
    const [call] = await ssh.listCalls();
    expect(JSON.stringify(call?.args)).not.toContain('planted');
    expect(call?.args).toContain('BatchMode=no');
    expect(call?.environment.get('SSH_ASKPASS_REQUIRE')).toBe('force');
    expect(log.lines.join()).not.toContain('planted');
  });

  test('is given the passphrase of a secret, but none with zero bytes', async () => {
    await using ssh = await writeSshProgram(`"$SSH_ASKPASS" > "$folder/asked"; ${sshScripts.newHost}`);
    const log = createTestLog();
    let text = 'planted\n';
    const follow = async () => ({ text, versionId: '1', asOfMs: 0, readAgainAtMs: 0 });
    const services = { secrets: { follow, read: async () => '', readRoles: async () => undefined } };
    const settings = { sshPrivateKeyPassphrase: 'encrypted:ssm!n:word' };
    await using account = open(ssh, settings, { log, services });
    await account.fetch({ reference });
    expect(await readFile(join(ssh.folder, 'asked'), 'utf8')).toBe('planted\n');

    text = 'planted\0planted';
    const failure = account.fetch({ reference });
    await expect(failure).rejects.toBeInstanceOf(FailedOperationError);
    await expect(failure).rejects.toThrow('sshPrivateKeyPassphrase: the secret has zero bytes');
    await expect(failure).rejects.not.toThrow('planted');
    expect(log.lines.join()).not.toContain('planted');
    expect(await ssh.listCalls()).toHaveLength(1);
  });

  test('asks the program of the account for the passphrase', async () => {
    await using ssh = await writeSshProgram(sshScripts.newHost);
    const program = await writeProgram(join(dir.path, 'askpass'), 'echo planted');
    await using account = open(ssh, { sshPrivateKeyPassphraseCmd: program });
    await account.fetch({ reference });
    const [call] = await ssh.listCalls();
    expect(call?.environment.get('SSH_ASKPASS')).toBe(program);
  });

  test('that is not there is told', async () => {
    await using account = openGitAccount(keyFile, { environment: { PATH: dir.path } });
    const failure = account.fetch({ reference });
    await expect(failure).rejects.toBeInstanceOf(FailedOperationError);
    await expect(failure).rejects.toThrow('the program ssh was not found: install');
  });

  test.each([
    ['echo "Host key verification failed." >&2; exit 255', FailedOperationError, 'its key is not among'],
    ['echo "a@b: Permission denied (publickey)." >&2; exit 255', FailedOperationError, 'was refused'],
    ['echo "connect to host b port 22: Connection refused" >&2; exit 255', FailedOperationError, 'refused'],
    ['echo "planted" >&2; exit 255', FailedOperationError, 'ssh ended with status 255'],
    ['echo "ERROR: Repository not found." >&2; exit 1', NotFoundError, 'no such repository'],
    ['echo "fatal: \'a\' does not appear to be a git repository" >&2; exit 128', NotFoundError, '127.0.0.1'],
    ['echo planted; exit 0', FailedOperationError, "not of git's protocol"],
    ['exit 0', FailedOperationError, "not of git's protocol"],
    ['kill -9 $$', FailedOperationError, 'ssh ended with status'],
  ])('that fails by %j is told as what it is', async (script, type, message) => {
    await using ssh = await writeSshProgram(script);
    const log = createTestLog();
    await using account = open(ssh, {}, { log });
    const failure = account.fetch({ reference });
    await expect(failure).rejects.toBeInstanceOf(type);
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.not.toThrow('planted');
  });

  test('that says nothing is ended', async () => {
    await using ssh = await writeSshProgram('sleep 1000');
    await using account = open(ssh, {}, { limits: { bodyTimeoutMs: 300 } });
    await expect(account.fetch({ reference })).rejects.toThrow('the transfer stalled');
    const [call] = await ssh.listCalls();
    await expect.poll(() => isRunning(call?.pid)).toBe(false);
  });

  test('that says too much is ended', async () => {
    await using ssh = await writeSshProgram('while :; do echo 0008ERR; done');
    await using account = open(ssh, {}, { limits: { bytesMax: 100_000 } });
    await expect(account.fetch({ reference })).rejects.toBeInstanceOf(Error);
    const [call] = await ssh.listCalls();
    await expect.poll(() => isRunning(call?.pid)).toBe(false);
  });

  test('is ended with everything that it started when the caller goes', async () => {
    await using ssh = await writeSshProgram('sleep 1000 & echo $! > "$folder/child"; wait');
    await using account = open(ssh);
    const leaving = new AbortController();
    const failure = account.fetch({ reference }, leaving.signal);
    const child = join(ssh.folder, 'child');
    await expect.poll(() => existsSync(child)).toBe(true);
    await expect.poll(async () => (await readFile(child, 'utf8')).trim()).not.toBe('');
    leaving.abort(new Error('gone'));
    await expect(failure).rejects.toThrow('gone');
    const pid = Number(await readFile(child, 'utf8'));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test.each([
    ...['git@10.0.0.1:shop', 'git@169.254.169.254:shop', 'ssh://git@[::1]/shop'],
    ...['ssh://git@2130706434/shop', 'git@localhost:shop', 'git@orca.internal:shop'],
  ])('is not started for %s', async (forbidden) => {
    await using ssh = await writeSshProgram(sshScripts.newHost);
    await using account = open(ssh);
    await expect(account.fetch({ reference: forbidden })).rejects.toBeInstanceOf(AccessDeniedError);
    expect(await ssh.listCalls()).toEqual([]);
  });
});

test('a reference that cannot be called takes no place of others', async () => {
  await using account = openGitAccount();
  for (let count = 0; count < 6; count += 1) {
    const failure = account.fetch({ reference: 'https://127.0.0.1/shop.git?x=1' });
    await expect(failure).rejects.toBeInstanceOf(InvalidInputError);
  }
});
