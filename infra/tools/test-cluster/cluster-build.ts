import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnvironment } from '#platform/config.ts';
import { wallClock } from '#platform/services/system.ts';
import { takeFileLock } from '../build/file-lock.ts';
import { BuildProgress, countPackages } from './build-progress.ts';
import { type GoToolchain, getGo } from './go-toolchain.ts';

const defaultProgressIntervalMs = 10_000;
const lockPollIntervalMs = 500;
/** Builds unused for this long are removed after a new build. */
const unusedBuildLifetimeMs = 14 * 24 * 60 * 60 * 1000;

/** The package of a release that has the test control plane, compiled for this machine: it is found beside Busdriver's own. */
export function toPackageName(): string {
  return `busdriver-cluster-${process.platform}-${process.arch}`;
}

/** Absolute paths of what a build produces, both of the same Kubernetes version. */
export interface ClusterBinaries {
  /** The control plane; `--help` lists its flags. */
  readonly kubecluster: string;
  readonly kubectl: string;
}

/** How to build the test control plane. */
export interface BuildClusterOptions {
  /** Receives progress, a line at a time, without line ends. Silent when nothing has to be built. */
  readonly report: (line: string) => void;
  /** Ends the build, which then rejects with an `AbortError`. */
  readonly signal?: AbortSignal | undefined;
  /** Folder of Busdriver's caches. Default `~/.cache/busdriver`; a build lies in `cluster/<hash>/` below it. */
  readonly cacheDir?: string | undefined;
  /** Busdriver's own folder, which holds `test/cluster`. Default: found upwards from this module. */
  readonly projectRoot?: string | undefined;
  /** Milliseconds between two lines of progress. Default 10 seconds. */
  readonly progressIntervalMs?: number | undefined;
  /** Name or path of the Go command. Default `go`. */
  readonly goCommand?: string | undefined;
}

/**
 * Builds the Kubernetes test control plane of `test/cluster` and its kubectl, or finds the earlier build of the
 * same sources by the same Go; a package beside Busdriver's own that has them needs no Go. A first build downloads about 100 MB of Go modules and takes about five minutes on
 * two cores. Concurrent builders, in any number of processes, wait for one of them.
 *
 * @throws {GoUnavailableError} when Go is missing or too old
 * @throws {Error} when the sources are missing or the compiler fails, with the end of its output
 */
export async function buildCluster(options: BuildClusterOptions): Promise<ClusterBinaries> {
  const root = options.projectRoot ?? (await findProjectRoot());
  const packed = await findBinaries(path.join(root, '..', toPackageName()));
  if (packed !== undefined) return packed;
  const go = await getGo(options.goCommand);
  const source = path.join(root, 'test', 'cluster');
  const cacheDir = options.cacheDir ?? path.join(homedir(), '.cache', 'busdriver');
  const target = path.join(cacheDir, 'cluster', await hashSources(source, go));
  for (let waits = 0; ; waits++) {
    const built = await findBuild(target);
    if (built !== undefined) return built;
    await mkdir(path.dirname(target), { recursive: true });
    await using lock = await takeFileLock(`${target}.lock`);
    if (lock !== undefined && (await findBuild(target)) === undefined) {
      await compile({ source, target, go, options });
    }
    if (lock === undefined) await waitForOtherBuilder(waits, options);
  }
}

/**
 * Busdriver's own folder: the nearest one upwards whose `package.json` is named `busdriver`.
 *
 * @param from an absolute folder; default that of this module, or of the bundle that contains it
 * @throws {Error} when there is none
 */
export async function findProjectRoot(from: string = import.meta.dirname): Promise<string> {
  for (let dir = from; ; dir = path.dirname(dir)) {
    const manifest = await readFile(path.join(dir, 'package.json'), 'utf8').catch(() => '{}');
    if (JSON.parse(manifest).name === 'busdriver') return dir;
    if (dir === path.dirname(dir)) {
      throw new Error(`The folder of Busdriver was not found upwards from ${from}: pass --kubeconfig FILE`);
    }
  }
}

/** Names a build after all it depends on: the files that are compiled and the compiler. */
async function hashSources(source: string, go: GoToolchain): Promise<string> {
  const hash = createHash('sha256').update(`${go.version} ${go.platform}\n`);
  const names = (await readdir(source)).filter((name) => isSource(name)).sort();
  for (const name of names) {
    hash.update(`${name}\n`).update(await readFile(path.join(source, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

function isSource(name: string): boolean {
  if (['go.mod', 'go.sum', 'build.sh'].includes(name)) return true;
  return name.endsWith('.go') && !name.endsWith('_test.go');
}

/** The finished build in a folder, marked as used now. A build appears whole or not at all (a rename). */
async function findBuild(target: string): Promise<ClusterBinaries | undefined> {
  const now = new Date(wallClock.now());
  return utimes(target, now, now).then(
    () => findBinaries(target),
    () => undefined,
  );
}

async function findBinaries(folder: string): Promise<ClusterBinaries | undefined> {
  const found = { kubecluster: path.join(folder, 'kubecluster'), kubectl: path.join(folder, 'kubectl') };
  return Promise.all(Object.values(found).map((file) => access(file))).then(
    () => found,
    () => undefined,
  );
}

interface Compilation {
  readonly source: string;
  readonly target: string;
  readonly go: GoToolchain;
  readonly options: BuildClusterOptions;
}

async function compile({ source, target, go, options }: Compilation): Promise<void> {
  const startedAt = performance.now();
  const progress = new BuildProgress();
  const reportProgress = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    options.report(
      `Building the Kubernetes test control plane with Go (once, about 5 minutes) … ${seconds} s${progress.describe()}`,
    );
  };
  reportProgress();
  const timer = setInterval(reportProgress, options.progressIntervalMs ?? defaultProgressIntervalMs);
  const output = await mkdtemp(`${target}.part-`);
  try {
    const { signal } = options;
    void countPackages(source, { go, signal }).then((total) => progress.setTotal(total));
    await runBuildScript(path.join(source, 'build.sh'), [output, go.command], { progress, signal });
    if ((await findBuild(output)) === undefined)
      throw new Error(`build.sh made no kubecluster or no kubectl`);
    if ((await findBuild(target)) === undefined) await replaceFolder(target, output);
    await removeUnusedBuilds(path.dirname(target));
  } finally {
    clearInterval(timer);
    await rm(output, { recursive: true, force: true });
  }
}

async function replaceFolder(target: string, by: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await rename(by, target);
}

interface BuildRun {
  readonly progress: BuildProgress;
  readonly signal: AbortSignal | undefined;
}

async function runBuildScript(script: string, args: string[], { progress, signal }: BuildRun): Promise<void> {
  const environment = readEnvironment();
  const child = spawn('sh', [script, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Go names what it downloads of itself, and with -v each package that it compiles.
    env: { ...environment, GOFLAGS: `${environment['GOFLAGS'] ?? ''} -v`.trim() },
    ...(signal && { signal }),
  });
  const exited = once(child, 'close');
  exited.catch(() => undefined);
  for await (const line of createInterface(child.stderr)) progress.add(line);
  const [code] = await exited;
  if (code === 0) return;
  throw new Error(
    `Go could not build the Kubernetes test control plane (its modules come from the proxy of 'go env GOPROXY'):\n` +
      progress.problems.join('\n'),
  );
}

async function removeUnusedBuilds(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    const entry = path.join(dir, name);
    const usedAt = await stat(entry).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    if (wallClock.now() - usedAt > unusedBuildLifetimeMs) await rm(entry, { recursive: true, force: true });
  }
}

async function waitForOtherBuilder(waits: number, { report, signal }: BuildClusterOptions): Promise<void> {
  const seconds = Math.round((waits * lockPollIntervalMs) / 1000);
  if ((waits * lockPollIntervalMs) % defaultProgressIntervalMs === 0) {
    report(`Waiting for another process that builds the Kubernetes test control plane … ${seconds} s`);
  }
  await sleep(lockPollIntervalMs, undefined, signal && { signal });
}
