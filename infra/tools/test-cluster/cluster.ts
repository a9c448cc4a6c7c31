import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ProcessExit, readFirstLine, stopProcess, watchExit } from '../child-process.ts';
import { type BuildClusterOptions, buildCluster } from './cluster-build.ts';

const startTimeoutMs = 120_000;
const logTailLines = 20;

/** How to start the test control plane; also where to build it, see {@link BuildClusterOptions}. */
export interface StartClusterOptions extends BuildClusterOptions {
  /**
   * Folder of the cluster's data, log, certificates and kubeconfig. A later start on it finds all objects again.
   * Default: a temporary folder, which the cluster removes when it ends, however its parent ended.
   */
  readonly dir?: string | undefined;
  /** Port of the API server on 127.0.0.1; default 0, any free one. */
  readonly port?: number | undefined;
  /** Further flags of `kubecluster`, such as `--nodes=5`; `test/cluster/README.md` lists them. */
  readonly args?: readonly string[] | undefined;
}

/** A running test control plane. Disposing stops it and waits until it has ended. */
export interface Cluster extends AsyncDisposable {
  /** Path of a kubeconfig whose only user may do everything. */
  readonly kubeconfig: string;
  /** Address of the API server, such as `https://127.0.0.1:41443`. */
  readonly server: string;
  /** Path of the certificate that signed the API server's. */
  readonly caFile: string;
  /** A bearer token that may do everything. */
  readonly token: string;
  readonly pid: number;
  /** Path of the kubectl of the same Kubernetes version. */
  readonly kubectl: string;
  /** Folder of the cluster's data and of its log, `cluster.log`. */
  readonly dir: string;
  /** Resolves when the process has ended, on its own or by disposal; it never rejects. */
  readonly exited: Promise<ProcessExit>;
}

/**
 * Starts a Kubernetes control plane, building it first where needed, and resolves when a Pod created now would
 * run: about 3 seconds, 2 on an existing folder. The cluster ends with this process, even after kill -9.
 *
 * @throws {GoUnavailableError} when Go, which builds it, is missing or too old
 * @throws {Error} when it cannot be built, ends before it is ready, or is not ready within two minutes; the
 *   message carries the end of its output and of its log
 */
export async function startCluster(options: StartClusterOptions): Promise<Cluster> {
  const { kubecluster, kubectl } = await buildCluster(options);
  const dir = path.resolve(options.dir ?? (await mkdtemp(path.join(tmpdir(), 'busdriver-cluster-'))));
  const isTemporary = options.dir === undefined;
  // Its own process group: Ctrl-C reaches this process alone, which then stops the cluster when it is done with it.
  // It needs no signal to end with this process: it watches the pipe of its stdin.
  const child = spawn(kubecluster, toArguments(dir, options, isTemporary), { detached: true });
  const exited = watchExit(child);
  const stop = async () => {
    await stopProcess(child, exited);
    if (isTemporary) await rm(dir, { recursive: true, force: true });
  };
  try {
    const ready = await waitForReadyLine({ child, exited, dir, signal: options.signal });
    return { ...ready, kubectl, dir, exited, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function toArguments(dir: string, options: StartClusterOptions, isTemporary: boolean): string[] {
  const args = ['--dir', dir, '--port', String(options.port ?? 0), '--until-stdin-eof'];
  if (isTemporary) args.push('--remove-dir');
  return [...args, ...(options.args ?? [])];
}

type ReadyLine = Pick<Cluster, 'kubeconfig' | 'server' | 'caFile' | 'token' | 'pid'>;

interface Start {
  readonly child: ChildProcess;
  readonly exited: Promise<ProcessExit>;
  readonly dir: string;
  readonly signal?: AbortSignal | undefined;
}

async function waitForReadyLine({ child, exited, dir, signal }: Start): Promise<ReadyLine> {
  const timeout = AbortSignal.timeout(startTimeoutMs);
  const line = await Promise.race([
    readFirstLine(child.stdout, signal ? AbortSignal.any([timeout, signal]) : timeout),
    exited,
  ]).catch((error: unknown) => {
    if (timeout.aborted) return undefined;
    throw error;
  });
  if (typeof line === 'string') return parseReadyLine(JSON.parse(line));
  const problem = line === undefined ? `was not ready after ${startTimeoutMs / 1000} s` : describeExit(line);
  throw new Error(`The Kubernetes test control plane ${problem}${await readLogTail(dir)}`);
}

function describeExit({ code, signal, errorOutput }: ProcessExit): string {
  const how = code === null ? (signal ?? 'it could not be run') : `exit code ${code}`;
  return `ended before it was ready (${how}): ${errorOutput.trim()}`;
}

async function readLogTail(dir: string): Promise<string> {
  const file = path.join(dir, 'cluster.log');
  const text = await readFile(file, 'utf8').catch(() => '');
  const tail = text.trimEnd().split('\n').slice(-logTailLines).join('\n');
  return tail === '' ? '' : `\nThe end of ${file}:\n${tail}`;
}

function parseReadyLine(value: unknown): ReadyLine {
  const fields = new Map(Object.entries(Object(value)));
  const getText = (name: string) => {
    const text = fields.get(name);
    if (typeof text !== 'string' || text === '') throw new TypeError(`kubecluster: '${name}' must be a text`);
    return text;
  };
  const pid = fields.get('pid');
  if (typeof pid !== 'number') throw new TypeError("kubecluster: 'pid' must be a number");
  return {
    kubeconfig: getText('kubeconfig'),
    server: getText('server'),
    caFile: getText('caFile'),
    token: getText('token'),
    pid,
  };
}
