import type { Artifact } from '../../../shared/core/providers/artifact.ts';
import { kinds } from '../../../shared/providers/artifacts/index.ts';
import { createAwsPorts } from '../../../shared/runtime/services/aws-ports.ts';
import { systemClock, systemRandomness } from '../../../shared/runtime/services/system.ts';
import type { StreamReport, StreamTask } from './artifact-streams.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const garbageBytesMax = 4 * 2 ** 20;
const [, , given = '[]'] = process.argv;
const tasks: readonly StreamTask[] = JSON.parse(given);
const signal = new AbortController().signal;

/** The most that the process had while it read. Not what Linux tells of it, which begins with the peak of the process that started it. */
let peakBytes = 0;

/** Reads a file of an account, and keeps nothing of it. @returns its bytes. */
async function read({ opener, settings }: StreamTask, artifact: Artifact): Promise<number> {
  const open = kinds.find(({ name }) => name === opener);
  const parts = {
    clock: systemClock,
    randomness: systemRandomness,
    log,
    services: createAwsPorts(systemClock),
  };
  const source = open?.({ settings, ...parts, placement: 'deployed' }).sources[0];
  let bytes = 0;
  const content = await source?.fetch(artifact, signal);
  for await (const piece of content?.body ?? []) {
    if (Math.floor((bytes + piece.byteLength) / garbageBytesMax) > Math.floor(bytes / garbageBytesMax)) {
      peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
      // Else garbage would be measured, of which there is as much as the machine has time to leave.
      gc?.();
    }
    bytes += piece.byteLength;
  }
  await source?.[Symbol.asyncDispose]();
  return bytes;
}

for (const task of tasks) await read(task, task.small);
gc?.();
const beforeBytes = process.memoryUsage.rss();
peakBytes = beforeBytes;
const bytes: number[] = [];
for (const task of tasks) bytes.push(await read(task, task.large));
const report: StreamReport = { bytes, grownMiB: (peakBytes - beforeBytes) / 2 ** 20 };
process.stdout.write(JSON.stringify(report));
