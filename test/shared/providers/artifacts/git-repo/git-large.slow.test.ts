import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitServer, startGitServer, type TestRepository } from '#test/support/artifacts/git-server.ts';
import { openGitAccount, readArchive } from './git-archives.ts';

const mib = 2 ** 20;
let server: GitServer;
let large: TestRepository;

/** Files of some MiB that are alike, a larger one, and 200 small ones. */
beforeAll(async () => {
  server = await startGitServer();
  large = await server.createRepository('large');
  await large.git('config', 'core.compression', '1');
  const alike = randomBytes(4 * mib);
  const files: Record<string, Uint8Array> = { 'one.bin': randomBytes(10 * mib), 'alike-0.dat': alike };
  for (let number = 1; number < 2; number += 1) {
    files[`alike-${number}.dat`] = Buffer.concat([alike.subarray(0, 3 * mib), randomBytes(100), alike]);
  }
  for (let number = 0; number < 200; number += 1) {
    files[`folder-${number % 50}/file-${number}.bin`] = randomBytes(50 * 1024);
  }
  await large.commit(files);
  await large.git('repack', '-a', '-d', '-q', '--window=4');
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const toReference = (name: string) => `${server.url}/${name}/.git`;

test('large files that the pack has as changes of others are as git archive has them', async () => {
  await using account = openGitAccount();
  const types = await large.git(
    'cat-file',
    '--batch-all-objects',
    '--batch-check=%(deltabase) %(objectsize)',
  );
  const deltas = types
    .split('\n')
    .filter((line) => !/^0+ /.test(line) && Number(line.split(' ')[1]) > 3 * mib);
  expect(deltas.length).toBeGreaterThan(0);
  for (const location of ['alike-0.dat', 'alike-1.dat']) {
    const archived = await readArchive(await account.fetch({ reference: toReference('large'), location }));
    const expected = await large.gitBytes('archive', '--format=tgz', 'HEAD', location);
    expect([...archived]).toEqual([...(await readArchive(expected))]);
  }
}, 120_000);
