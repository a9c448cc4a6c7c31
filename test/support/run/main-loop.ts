import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer, listenLocally } from '../network/local-server.ts';

/** The part of some work that others in this process notice. */
export interface LoopReport {
  /** The longest time for which the main loop did nothing else, milliseconds. */
  readonly longestStretchMs: number;
  /** The longest request of a neighbour, who asks this process for nothing but an answer, milliseconds. */
  readonly neighbourMs: number;
  /** Processor time of the main thread, milliseconds. */
  readonly mainCpuMs: number;
  /** Threads of jobs that were seen during the work. */
  readonly threadsSeen: number;
  /** Those that were left behind it. */
  readonly threadsLeft: number;
}

const lookMs = 5;

/** Milliseconds between two requests, and two looks at threads: each costs the main thread a little. */
const askMs = 40;

/** Does some work, and looks meanwhile at what others notice of it. */
export async function watchMainLoop(work: () => Promise<unknown>): Promise<LoopReport> {
  await using neighbour = await startNeighbour();
  const stop = new AbortController();
  const watchers = Promise.all([
    findLongest(stop.signal, () => sleep(lookMs), lookMs),
    findLongest(stop.signal, () => neighbour.ask(), askMs),
    countThreads(stop.signal),
  ]);
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  const threadsLeft = await countJobThreads('self');
  stop.abort();
  const [longestStretchMs, neighbourMs, threadsSeen] = await watchers;
  const mainCpuMs = Math.round((user + system) / 1_000);
  return { longestStretchMs, neighbourMs, mainCpuMs, threadsSeen, threadsLeft };
}

/** Threads of jobs that a process has at the moment. @param pid its number, or `self` */
export async function countJobThreads(pid: number | 'self'): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const names = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/comm`, 'utf8').catch(() => ''));
  return (await Promise.all(names)).filter((name) => name.trim() === 'busdriver-job').length;
}

/** The longest of many runs of something, without the time that it takes by itself. */
async function findLongest(stop: AbortSignal, act: () => Promise<unknown>, usualMs: number): Promise<number> {
  let longestMs = 0;
  while (!stop.aborted) {
    const startedAtMs = performance.now();
    await act();
    longestMs = Math.max(longestMs, performance.now() - startedAtMs - usualMs);
  }
  return Math.round(longestMs);
}

async function countThreads(stop: AbortSignal): Promise<number> {
  let most = 0;
  while (!stop.aborted) {
    most = Math.max(most, await countJobThreads('self'));
    await sleep(askMs);
  }
  return most;
}

async function startNeighbour() {
  const server = createServer((_, response) => response.end('{"status":"UP"}'));
  const port = await listenLocally(server);
  return {
    ask: async () => {
      await (await fetch(`http://127.0.0.1:${port}/health`)).text();
      await sleep(askMs);
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}
