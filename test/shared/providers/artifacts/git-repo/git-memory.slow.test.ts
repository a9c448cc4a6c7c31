import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGitRepoSources } from '#providers/artifacts/git-repo/git-repo.ts';
import { type GitServer, startGitServer, type TestRepository } from '#test/support/artifacts/git-server.ts';
import { runStreamTasks, type StreamTask } from '#test/support/conformance/artifact-streams.ts';
import { openGitAccount } from './git-archives.ts';

const mib = 2 ** 20;
let server: GitServer;
let small: TestRepository;
let large: TestRepository;

/** 100 MiB that no pack makes smaller: a file that no process should hold, large ones, small ones, and one that is another's change. */
beforeAll(async () => {
  server = await startGitServer();
  small = await server.createRepository('small');
  await small.commit({ 'web.yml': 'kind: Pod' });
  large = await server.createRepository('large');
  await large.git('config', 'core.compression', '1');
  const changed = randomBytes(6 * mib);
  const files: Record<string, Uint8Array> = { 'one.bin': randomBytes(48 * mib), 'changed.dat': changed };
  files['folder/changed.dat'] = Buffer.concat([changed, randomBytes(100)]);
  for (let number = 0; number < 15; number += 1) files[`large/${number}.bin`] = randomBytes(2 * mib);
  for (let number = 0; number < 320; number += 1) {
    files[`small-${number % 40}/${number}.bin`] = randomBytes(mib / 20);
  }
  await large.commit(files);
  await large.git('repack', '-a', '-d', '-q', '--window=4');
}, 180_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const toReference = (name: string) => `${server.url}/${name}/.git`;

test('a repository of 100 MiB is brought with 40 MiB of memory', async () => {
  const toArtifact = (name: string) => ({ type: 'git/repo', reference: toReference(name) });
  const task: StreamTask = {
    opener: openGitRepoSources.name,
    settings: {
      artifacts: {
        urlRestrictions: { allowedIps: ['127.0.0.1'] },
        gitRepo: { enabled: true, accounts: [{ name: 'repos' }] },
      },
    },
    small: toArtifact('small'),
    large: toArtifact('large'),
  };
  const { bytes, grownMiB } = await runStreamTasks([task]);
  // Compressed, 100 MiB that are random are a little more.
  expect(bytes[0]).toBeGreaterThan(100 * mib);

  expect(grownMiB).toBeLessThan(40);
}, 300_000);

test('a repository of 100 MiB has the files that git archive lists', async () => {
  await using account = openGitAccount();
  const archived = await listFiles(await account.fetch({ reference: toReference('large') }));
  expect(archived).toHaveLength(380);
  expect(archived).toEqual(await listFiles(await large.gitBytes('archive', '--format=tgz', 'HEAD')));
}, 300_000);

/** Mode, size, time and name of each file, as the program `tar` tells them. */
async function listFiles(tgz: Uint8Array): Promise<readonly string[]> {
  const tar = spawn('tar', ['--list', '--gzip', '--verbose', '--utc', '--numeric-owner']);
  tar.stdin.end(tgz);
  return (await buffer(tar.stdout)).toString().trimEnd().split('\n');
}
