import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '#test/support/network/listening.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { measureImportOf } from './bundles.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type FetchedArtifact, openArtifact, readArtifact } from './fetched-artifact.ts';
import { gitAccount, measureGitRepository } from './git-rows.ts';
import { readProcessFigures } from './process-figures.ts';
import type { RowResult } from './rows.ts';
import { type RunningSystem, startRunningSystem } from './running-system.ts';
import { summarize } from './statistics.ts';

/** Bytes of the object that is fetched, and of a piece of it. */
const objectBytes = 100 * 2 ** 20;
const pieceBytes = 2 ** 18;

const fetches = { warmUp: 3, firstByte: 20, memory: 3 };
/** Milliseconds between two looks at the memory, and until what was fetched before is forgotten. */
const lookMs = 10;
const settleMs = 3_000;

const object: FetchedArtifact = {
  type: 's3/object',
  artifactAccount: 'bucket',
  reference: 's3://bench/object',
};

/** What fetches of artifacts cost, below the name of a server: an object of S3, and a repository of git. */
export async function measureArtifacts({ kubeconfig }: ClusterAccess, server: string): Promise<RowResult[]> {
  await using source = await startSource();
  await using dir = await makeTempDir();
  const settings = {
    artifacts: {
      urlRestrictions: { allowedIps: ['127.0.0.1'] },
      s3: { enabled: true, accounts: [{ name: 'bucket', apiEndpoint: source.url }] },
      gitRepo: { enabled: true, accounts: [{ name: gitAccount }] },
    },
  };
  const account = { namespaces: ['default'] };
  await using system = await startRunningSystem({
    ...{ dir: join(dir.path, 'system'), kubeconfig, account, settings, cache: { enabled: false } },
  });
  for (let count = 0; count < fetches.warmUp; count += 1) await readObject(system);
  const firstBytes: number[] = [];
  for (let count = 0; count < fetches.firstByte; count += 1) {
    const firstMs = await readFirstByte(system);
    firstBytes.push(Math.max(0, firstMs - source.firstByteMs()));
  }
  const grown: number[] = [];
  for (let count = 0; count < fetches.memory; count += 1) grown.push(await measureMemory(system));
  return [
    {
      ...{ name: 'first byte of 100 MiB of S3, after its source', unit: 'ms', aim: 60 },
      ...{ server, summary: summarize(firstBytes) },
    },
    {
      ...{ name: 'memory of a fetch of 100 MiB, above idle', unit: 'MiB', aim: 40 },
      ...{ server, summary: summarize(grown) },
    },
    await measureGitRepository(system, server),
    await measureImportOf('api/artifacts/fetch-artifact', { server, aim: 120 }),
  ];
}

async function startSource() {
  let firstByteMs = 0;
  const piece = Buffer.alloc(pieceBytes, 'artifact');
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': objectBytes });
    firstByteMs = performance.now();
    writeObject(response, piece);
  });
  return {
    ...(await listen(server)),
    /** When it last began to write the object, as `performance.now()` tells. */
    firstByteMs: () => firstByteMs,
  };
}

function writeObject(response: ServerResponse, piece: Buffer): void {
  let left = objectBytes;
  const write = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= piece.length;
      if (!response.write(piece)) {
        response.once('drain', write);
        return;
      }
    }
    response.end();
  };
  write();
}

async function readObject(system: RunningSystem): Promise<void> {
  const bytes = await readArtifact(system, object);
  if (bytes !== objectBytes) throw new Error(`PUT /artifacts/fetch broke off after ${bytes} bytes`);
}

/** When the first byte was there; the others are not waited for. */
async function readFirstByte(system: RunningSystem): Promise<number> {
  const leaving = new AbortController();
  const body = await openArtifact(system, object, leaving.signal);
  for await (const piece of body) {
    if (piece.length > 0) break;
  }
  const firstMs = performance.now();
  leaving.abort();
  return firstMs;
}

/** MiB by which the process was larger at most than before the fetch. */
async function measureMemory(system: RunningSystem): Promise<number> {
  await sleep(settleMs);
  const { memoryMiB: idleMiB } = await readProcessFigures(system.pid);
  let mostMiB = idleMiB;
  let isDone = false;
  const fetching = readObject(system).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await sleep(lookMs);
    mostMiB = Math.max(mostMiB, (await readProcessFigures(system.pid)).memoryMiB);
  }
  await fetching;
  return mostMiB - idleMiB;
}
