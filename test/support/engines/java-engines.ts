import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { takeFileLock } from '#infra/tools/build/file-lock.ts';

const run = promisify(execFile);

const startTimeoutMs = 60_000;
const downloadTimeoutMs = 5 * 60_000;
const lockPollIntervalMs = 250;
const progressIntervalMs = 10_000;

/** Oldest Java that runs both engines. */
const minimumJava = 17;

/** Engines of others that run on Java; each has its folder in `test/second-opinions`. */
export const javaEngines = {
  'dynamodb-local': {
    title: 'DynamoDB Local 2.6.1',
    /** Its SQLite comes as a native library, which these platforms have. */
    platforms: ['linux-x64', 'darwin-x64', 'win32-x64'],
  },
  elasticmq: { title: 'ElasticMQ 1.7.1', platforms: undefined },
} as const;

/** Name of an engine. */
export type JavaEngineName = keyof typeof javaEngines;

/** A running engine. Disposing ends its process and waits until it has ended. */
export interface JavaEngine extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:41443`. */
  readonly url: string;
  readonly pid: number;
}

/** An engine cannot run on this machine. The message says why and what would change it. */
export class JavaEngineUnavailableError extends Error {
  override readonly name = 'JavaEngineUnavailableError';
}

/**
 * The folder with an engine's jars, which Maven downloads the first time: about 50 MB, into Maven's own repository and
 * from there into `~/.cache/busdriver/engines/<hash>/`. Concurrent callers, in any number of processes, wait for one of them.
 *
 * @throws {JavaEngineUnavailableError} without a Java development kit, without Maven where there is something to
 *   download, when the download fails (with Maven's first error), and on platforms that the engine does not have
 */
export async function getJars(name: JavaEngineName): Promise<string> {
  await checkPlatform(name);
  const pom = path.join(getFolder(name), 'pom.xml');
  const cache = path.join(homedir(), '.cache', 'busdriver', 'engines');
  const jars = path.join(cache, toHash(await readFile(pom)));
  await mkdir(cache, { recursive: true });
  while (!existsSync(jars)) {
    // One lock for all engines: Maven's own repository is not made for two Mavens at a time.
    await using lock = await takeFileLock(path.join(cache, 'lock'));
    if (lock === undefined) await sleep(lockPollIntervalMs);
    else if (!existsSync(jars)) await download({ name, pom, jars });
  }
  return jars;
}

async function checkPlatform(name: JavaEngineName): Promise<void> {
  const { title, platforms } = javaEngines[name];
  const platform = `${process.platform}-${process.arch}`;
  if (platforms !== undefined && !(platforms as readonly string[]).includes(platform)) {
    throw new JavaEngineUnavailableError(`${title} has no native library for ${platform}`);
  }
  const modules = await run('java', ['--list-modules']).catch(() => undefined);
  const [, version] = /^jdk\.compiler@(\d+)/m.exec(modules?.stdout ?? '') ?? [];
  if (Number(version ?? 0) >= minimumJava) return;
  const problem =
    modules === undefined
      ? "'java' was not found, or is older than Java 9"
      : `'java' is ${version === undefined ? 'without a compiler' : `Java ${version}`}`;
  throw new JavaEngineUnavailableError(
    `${title} needs a Java development kit >= ${minimumJava}, but ${problem}`,
  );
}

interface Download {
  readonly name: JavaEngineName;
  readonly pom: string;
  /** Folder that appears when all jars are there. */
  readonly jars: string;
}

async function download({ name, pom, jars }: Download): Promise<void> {
  const { title } = javaEngines[name];
  const startedAt = performance.now();
  const reportProgress = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(`Downloading ${title} with Maven (once, about 50 MB) … ${seconds} s`);
  };
  reportProgress();
  const progress = setInterval(reportProgress, progressIntervalMs);
  const part = await mkdtemp(`${jars}.part-`);
  try {
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${part}`];
    // Maven remembers for a day that something could not be had, unless it is told to look again.
    const flags = ['--batch-mode', '--quiet', '--update-snapshots', '--file', pom];
    await run('mvn', [...flags, ...goal], { timeout: downloadTimeoutMs, maxBuffer: 64 << 20 });
    await rename(part, jars);
  } catch (error) {
    if (existsSync(jars)) return; // somebody who took our lock for stale was faster
    throw new JavaEngineUnavailableError(`${title} could not be downloaded: ${describeFailure(error)}`);
  } finally {
    clearInterval(progress);
    await rm(part, { recursive: true, force: true });
  }
}

function describeFailure(error: unknown): string {
  const { code, killed, stdout } = Object(error) as { code?: unknown; killed?: boolean; stdout?: string };
  if (code === 'ENOENT') return "'mvn' was not found: install Apache Maven";
  if (killed) return `Maven was not done after ${downloadTimeoutMs / 60_000} minutes`;
  const [, reason] = /\[ERROR\] (\S.*)$/m.exec(stdout ?? '') ?? [];
  return reason ?? (error instanceof Error ? error.message : String(error));
}

/**
 * Starts an engine on a free port of 127.0.0.1, with nothing in it. It ends with this process, even after kill -9: its
 * launcher watches the pipe of its standard input.
 *
 * @param jars from {@link getJars}
 * @throws {Error} when it does not start within a minute; the message carries the end of its output
 */
export async function startJavaEngine(name: JavaEngineName, jars: string): Promise<JavaEngine> {
  const classes = await compileLauncher(name, jars);
  const child = spawn('java', [
    // Short lives: less compiling, and no threads for collecting garbage.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    '-Xmx512m',
    `-Djava.library.path=${jars}`,
    '-classpath',
    [classes, path.join(jars, '*')].join(path.delimiter),
    'Engine',
  ]);
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    const port = await readPort(child, javaEngines[name].title);
    child.stdout.resume(); // nobody reads on, and a full pipe would stop the engine
    return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The folder with the launcher's class, beside that of the jars. Java would compile it at each start, which takes longer than to start the
 * engine. Whoever comes first compiles it.
 */
async function compileLauncher(name: JavaEngineName, jars: string): Promise<string> {
  const source = path.join(getFolder(name), 'Engine.java');
  const classes = `${jars}-${toHash(await readFile(source))}`;
  if (existsSync(classes)) return classes;
  const part = await mkdtemp(`${classes}.part-`);
  try {
    await run('javac', ['-classpath', path.join(jars, '*'), '-d', part, source]);
    await rename(part, classes);
  } catch (error) {
    if (!existsSync(classes)) throw error;
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return classes;
}

function toHash(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

/** The port that a launcher tells, in a line of its own among those of the engine. */
async function readPort(child: ChildProcess, title: string): Promise<string> {
  if (child.stdout === null || child.stderr === null) throw new TypeError('stdout and stderr must be pipes');
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4000);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs);
  try {
    for await (const line of createInterface(child.stdout)) {
      const [, port] = /^port (\d+)$/.exec(line) ?? [];
      if (port !== undefined) return port;
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error(
    `${title} ended, or was ended after ${startTimeoutMs / 1000} s, before it was ready: ${output}`,
  );
}

function getFolder(name: JavaEngineName): string {
  return path.join(import.meta.dirname, '../..', 'second-opinions', name);
}
