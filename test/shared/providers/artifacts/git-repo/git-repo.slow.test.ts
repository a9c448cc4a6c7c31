import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import { type GitServer, startGitServer, type TestRepository } from '#test/support/artifacts/git-server.ts';
import { openGitAccount, readArchive } from './git-archives.ts';

const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line}`).join('\n');

describe('a repository (git/repo)', () => {
  let server: GitServer;
  let repository: TestRepository;
  let reference: string;
  const ids = { first: '', second: '', branch: '' };

  beforeAll(async () => {
    server = await startGitServer();
    repository = await server.createRepository('shop');
    reference = `${server.url}/shop/.git`;
    ids.first = await repository.commit({
      'README.md': 'first',
      'deploy/web.yml': lines(2_000),
      'deploy/copy.yml': `${lines(2_000)}\nmore`,
      'deploy/overlays/größe ü.yml': 'kind: Pod',
      [`long/${'folder/'.repeat(20)}${'name'.repeat(40)}.txt`]: 'long',
      'empty.txt': '',
      'binary.dat': Buffer.from([0, 255, 10, 13, 128]),
      'run.sh': '#!/bin/sh\n',
    });
    await symlink('deploy/web.yml', join(repository.path, 'link.yml'));
    await symlink('../outside', join(repository.path, 'deploy', 'outside'));
    await repository.git('update-index', '--chmod=+x', 'run.sh');
    await repository.git('config', 'core.fileMode', 'false');
    await repository.commit({
      'README.md': 'second',
      'deploy/web.yml': `${lines(2_000)}\nchanged`,
    });
    await repository.git('update-index', '--add', '--cacheinfo', `160000,${ids.first},modules/other`);
    await repository.git('commit', '--quiet', '--message', 'a submodule');
    ids.second = await repository.git('rev-parse', 'HEAD');
    await repository.git('tag', 'v1', ids.first);
    await repository.git('tag', '--annotate', '--message', 'two', 'v2', ids.second);
    await repository.git('checkout', '--quiet', '-b', 'feature/x');
    ids.branch = await repository.commit({ 'README.md': 'branch' });
    await repository.git('checkout', '--quiet', 'master');
    await repository.git('gc', '--quiet');
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  /** What `git archive` makes of the same. */
  const archive = async (...args: readonly string[]) =>
    readArchive(await repository.gitBytes('archive', '--format=tgz', ...args));

  test.each<{ what: string; version: () => string | undefined; tree: () => string }>([
    { what: 'a branch', version: () => 'feature/x', tree: () => 'feature/x' },
    { what: 'a tag', version: () => 'v1', tree: () => 'v1' },
    { what: 'an annotated tag', version: () => 'v2', tree: () => 'v2' },
    { what: 'a full name', version: () => 'refs/tags/v1', tree: () => 'v1' },
    { what: 'HEAD', version: () => 'HEAD', tree: () => 'HEAD' },
    { what: 'no version', version: () => undefined, tree: () => 'master' },
    { what: 'an empty version', version: () => '', tree: () => 'master' },
    { what: 'a commit', version: () => ids.first, tree: () => ids.first },
    { what: 'a commit in capitals', version: () => ids.first.toUpperCase(), tree: () => ids.first },
    { what: 'seven digits of a commit', version: () => ids.first.slice(0, 7), tree: () => ids.first },
    { what: 'seven digits of a tip', version: () => ids.branch.slice(0, 7), tree: () => ids.branch },
  ])('is archived by $what as git archive does it', async ({ version, tree }) => {
    await using account = openGitAccount();
    const wanted = version();
    const artifact = { reference, ...(wanted !== undefined && { version: wanted }) };
    const archived = await readArchive(await account.fetch(artifact));
    expect(archived.size).toBeGreaterThan(10);
    expect([...archived]).toEqual([...(await archive(tree()))]);
  });

  test.each([
    { location: 'deploy', path: 'deploy' },
    { location: '/deploy/overlays/', path: 'deploy/overlays' },
    { location: './deploy/./web.yml', path: 'deploy/web.yml' },
    { location: 'link.yml', path: 'link.yml' },
    { location: 'modules/other', path: 'modules/other' },
  ])('is archived from the location $location on', async ({ location, path }) => {
    await using account = openGitAccount();
    const expected = await archive('master', path);
    expect([...(await readArchive(await account.fetch({ reference, location })))]).toEqual([...expected]);
    const bySubPath = await account.fetch({ reference, metadata: { subPath: location } });
    expect([...(await readArchive(bySubPath))]).toEqual([...expected]);
  });

  test.each(['nothing', 'deploy/nothing', 'README.md/nothing'])(
    'has nothing at %s: 404',
    async (location) => {
      await using account = openGitAccount();
      const failure = account.fetch({ reference, location });
      await expect(failure).rejects.toBeInstanceOf(NotFoundError);
      await expect(failure).rejects.toThrow('nothing at the location');
    },
  );

  test.each(['../shop', 'deploy/../..'])('is not left by the location %s: 400', async (location) => {
    await using account = openGitAccount();
    await expect(account.fetch({ reference, location })).rejects.toBeInstanceOf(InvalidInputError);
  });

  test.each(['nothing', 'refs/heads/nothing', '0123456', '0'.repeat(40)])(
    'has no version %s: 404',
    async (version) => {
      await using account = openGitAccount();
      await expect(account.fetch({ reference, version })).rejects.toBeInstanceOf(NotFoundError);
    },
  );

  test.each([
    ['a b', 'a blank'],
    ['a\nb', 'a line break'],
    ['a:b', 'a colon'],
    ['master^', 'a caret'],
    ['x'.repeat(2_000), '2,000 characters'],
  ])('cannot have a version that is odd (%#): 400', async (version) => {
    await using account = openGitAccount();
    await expect(account.fetch({ reference, version })).rejects.toBeInstanceOf(InvalidInputError);
  });

  test('is read without history', async () => {
    await using account = openGitAccount();
    const before = server.requests.length;
    await account.fetch({ reference });
    expect(server.requests.slice(before).map(({ method, url }) => [method, url])).toEqual([
      ['GET', '/shop/.git/info/refs?service=git-upload-pack'],
      ['POST', '/shop/.git/git-upload-pack'],
      ['POST', '/shop/.git/git-upload-pack'],
    ]);
  });

  test('that is not there is 404', async () => {
    await using account = openGitAccount();
    const failure = account.fetch({ type: 'git/repo', reference: `${server.url}/nothing.git` });
    await expect(failure).rejects.toBeInstanceOf(NotFoundError);
  });
});

test('without a master is read at its HEAD', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('shop');
  await repository.commit({ 'README.md': 'main' });
  await repository.git('branch', '--move', 'main');
  await using account = openGitAccount();
  const reference = `${server.url}/shop/.git`;
  const archived = await readArchive(await account.fetch({ reference }));
  expect(archived.get('README.md')?.content).toBe('main');
  await expect(account.fetch({ reference, version: 'master' })).rejects.toBeInstanceOf(NotFoundError);
});

test('without commits is 404', async () => {
  await using server = await startGitServer();
  await server.createRepository('shop');
  await using account = openGitAccount();
  for (const version of ['', 'master', '0123456', '0'.repeat(40)]) {
    const fetching = account.fetch({ reference: `${server.url}/shop/.git`, version });
    await expect(fetching).rejects.toBeInstanceOf(NotFoundError);
  }
});

test.each([
  { what: 'speaks the old version of the protocol', config: ['protocol.version', '0'] },
  { what: 'cannot send commits without files', config: ['uploadpack.allowFilter', 'false'] },
])('a server that $what', async ({ config }) => {
  // An old server takes no part of the header that asks for version 2.
  const isOld = config[0] === 'protocol.version';
  await using server = await startGitServer((request) => {
    if (isOld) delete request.headers['git-protocol'];
    return false;
  });
  const repository = await server.createRepository('shop');
  await repository.git('config', ...config);
  const first = await repository.commit({ 'README.md': 'first', 'a/b.txt': lines(50) });
  const second = await repository.commit({ 'README.md': 'second' });
  await repository.git('tag', '--annotate', '--message', 'tag', 'v1', first);
  await using account = openGitAccount();
  const reference = `${server.url}/shop/.git`;
  for (const version of ['master', 'v1', first, second, first.slice(0, 7), second.slice(0, 9)]) {
    const archived = await readArchive(await account.fetch({ reference, version }));
    const expected = await repository.gitBytes('archive', '--format=tgz', version);
    expect([...archived]).toEqual([...(await readArchive(expected))]);
  }
});
