import { randomBytes } from 'node:crypto';
import { type GitServer, startGitServer } from '#test/support/artifacts/git-server.ts';
import { type FetchedArtifact, readArtifact } from './fetched-artifact.ts';
import type { RowResult } from './rows.ts';
import type { RunningSystem } from './running-system.ts';
import { summarize } from './statistics.ts';

/** 50 MiB in 5,000 files, of which a half can be compressed away. */
const sizes = { folders: 100, filesEach: 50, fileBytes: 10_486 };
const fetches = { warmUp: 2, timed: 10 };

export const gitAccount = 'repositories';

/** How long it takes to read a repository, from the request to the last byte, below the name of a server. */
export async function measureGitRepository(system: RunningSystem, server: string): Promise<RowResult> {
  await using source = await startGitServer();
  const artifact = await createRepository(source);
  for (let count = 0; count < fetches.warmUp; count += 1) await readArtifact(system, artifact);
  const times: number[] = [];
  for (let count = 0; count < fetches.timed; count += 1) {
    const startMs = performance.now();
    await readArtifact(system, artifact);
    times.push(performance.now() - startMs);
  }
  return { name: 'git/repo of 50 MiB', unit: 'ms', aim: 3_000, server, summary: summarize(times) };
}

async function createRepository(source: GitServer): Promise<FetchedArtifact> {
  const repository = await source.createRepository('bench');
  const files: Record<string, string> = {};
  for (let folder = 0; folder < sizes.folders; folder += 1) {
    for (let file = 0; file < sizes.filesEach; file += 1) {
      files[`folder-${folder}/file-${file}.txt`] = randomBytes(sizes.fileBytes / 2).toString('hex');
    }
  }
  await repository.commit(files);
  // As a server of git has it: it need not be packed for each who asks.
  await repository.git('gc', '--quiet');
  return { type: 'git/repo', artifactAccount: gitAccount, reference: `${source.url}/bench/.git` };
}
