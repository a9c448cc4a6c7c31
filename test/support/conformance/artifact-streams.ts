import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { listenLocally } from '../network/local-server.ts';
import { type ArtifactTypeSample, toArtifact } from './artifact-sample.ts';

/** What a process that reads streams is told of each, as JSON. */
export interface StreamTask {
  /** Name of the function that opens the accounts. */
  readonly opener: string;
  readonly settings: JsonObject;
  /** A file of one piece and a large one. */
  readonly small: Artifact;
  readonly large: Artifact;
}

/** What came of it. */
export interface StreamReport {
  /** Bytes that were read, by sample. */
  readonly bytes: readonly number[];
  /** MiB by which the process grew at most, from the first small file to the end of the last large one. */
  readonly grownMiB: number;
}

/**
 * Reads a large file of each sample, one after the other, in a process of its own. Its garbage is collected every few MiB:
 * what is measured is what the streams hold.
 */
export async function measureStreams(
  samples: readonly ArtifactTypeSample[],
  bytes: number,
): Promise<StreamReport> {
  const piece = Buffer.alloc(2 ** 16, 'x');
  const servers = await Promise.all(samples.map((sample) => startServer(sample, piece, bytes)));
  await using stack = new AsyncDisposableStack();
  for (const { server } of servers) {
    stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
  }
  return await runStreamTasks(servers.map(({ task }) => task));
}

/** The same for files that are there already. @param nodeOptions of the process, such as a limit of its heap */
export async function runStreamTasks(
  tasks: readonly StreamTask[],
  nodeOptions: readonly string[] = [],
): Promise<StreamReport> {
  const main = join(import.meta.dirname, 'artifact-streams-main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[...nodeOptions, '--expose-gc', '--max-semi-space-size=1', main, JSON.stringify(tasks)],
  ]);
  const report: StreamReport = JSON.parse(stdout);
  return report;
}

async function startServer(sample: ArtifactTypeSample, piece: Buffer, bytes: number) {
  const { open, type, remote } = sample;
  if (remote === undefined) throw new Error(`${type} calls no server`);
  function* produce(size: number) {
    for (let sent = 0; sent < size; sent += piece.length) yield piece;
  }
  const sendFile = (request: { url?: string | undefined }, response: NodeJS.WritableStream) =>
    void Readable.from(produce(request.url?.includes('large') ? bytes : piece.length)).pipe(response);
  const server = createServer(remote.createListener?.(sendFile) ?? sendFile);
  const origin = `http://127.0.0.1:${await listenLocally(server)}`;
  const account = { name: 'files', ...remote.account, ...remote.toServer?.(origin) };
  const task: StreamTask = {
    opener: open.name,
    settings: {
      artifacts: {
        urlRestrictions: { allowedIps: ['127.0.0.1'] },
        [remote.kind]: { enabled: true, accounts: [account] },
      },
    },
    small: toArtifact(sample, remote.toReference(origin, 'small')),
    large: toArtifact(sample, remote.toReference(origin, 'large')),
  };
  return { server, task };
}
