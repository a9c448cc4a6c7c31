import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { kinds } from '#providers/artifacts/index.ts';
import { createTestHost } from '../services/test-host.ts';
import type { StreamReport, StreamTask } from './artifact-streams.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const garbageBytesMax = 4 * 2 ** 20;
const [, , given = '[]'] = process.argv;
const tasks: readonly StreamTask[] = JSON.parse(given);
const signal = new AbortController().signal;

/** The most that the process had while it read. Not what Linux tells of it, which begins with the peak of the process that started it. */
let peakBytes = 0;

/** Notes what the process has now. */
function note(): void {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}

/** Collects garbage, after a look. Else it would be measured, of which there is as much as the machine has time to leave. */
function collect(): void {
  note();
  gc?.();
}

/** Milliseconds between two looks at a process that reads before it answers. */
const lookEveryMs = 5;

/** Measures until something is there: repositories are read as a whole before the first byte of their archive is answered. */
async function measureUntil<T>(answer: Promise<T> | undefined): Promise<T | undefined> {
  const used = () => {
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return arrayBuffers + heapUsed;
  };
  let collectedBytes = used();
  const timer = setInterval(() => {
    note();
    if (used() - collectedBytes < garbageBytesMax) return;
    collect();
    collectedBytes = used();
  }, lookEveryMs);
  try {
    return await answer;
  } finally {
    clearInterval(timer);
  }
}

/** Reads a file of an account, and keeps nothing of it. @returns its bytes. */
async function read({ opener, settings }: StreamTask, artifact: Artifact): Promise<number> {
  const open = kinds.find(({ name }) => name === opener);
  const parts = {
    clock: systemClock,
    randomness: systemRandomness,
    log,
    services: createTestHost({ clock: systemClock }),
  };
  const source = open?.({ settings, ...parts, placement: 'deployed' }).sources[0];
  let bytes = 0;
  const content = await measureUntil(source?.fetch(artifact, signal));
  for await (const piece of content?.body ?? []) {
    if (Math.floor((bytes + piece.byteLength) / garbageBytesMax) > Math.floor(bytes / garbageBytesMax)) {
      collect();
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
