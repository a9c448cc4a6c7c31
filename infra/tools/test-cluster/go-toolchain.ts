import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Oldest Go release that compiles the test control plane, as `test/cluster/go.mod` says. */
export const minimumGo = { major: 1, minor: 26 } as const;

/** A Go toolchain that answered `go version`. */
export interface GoToolchain {
  /** The command that was run: a name looked up in `PATH`, or a path. */
  readonly command: string;
  /** Release without the leading `go`, such as `1.26.8`. */
  readonly version: string;
  /** Operating system and architecture that it compiles for, such as `linux/amd64`. */
  readonly platform: string;
}

/** Go is missing or too old for the test control plane. The message says what to do. */
export class GoUnavailableError extends Error {
  override readonly name = 'GoUnavailableError';
}

/**
 * Asks a Go command for its version.
 *
 * @param command a name looked up in `PATH`, or a path
 * @returns undefined when there is no such command, or it does not answer as Go does
 */
export async function findGo(command = 'go'): Promise<GoToolchain | undefined> {
  const answer = await readGoVersion(command);
  const match = /^go version go(\d+\.\d+\S*)(?: .*)? (\w+\/\w+)\s*$/.exec(answer ?? '');
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { command, version: match[1], platform: match[2] };
}

/**
 * The Go toolchain, if it is new enough to compile the test control plane.
 *
 * @param command a name looked up in `PATH`, or a path
 * @throws {GoUnavailableError} when Go is missing or older than {@link minimumGo}
 */
export async function getGo(command = 'go'): Promise<GoToolchain> {
  const go = await findGo(command);
  if (go !== undefined && isNewEnough(go.version)) return go;
  const problem = go === undefined ? `'${command}' was not found` : `'${command}' is Go ${go.version}`;
  throw new GoUnavailableError(
    `The Kubernetes test control plane is compiled with Go, but ${problem}: ` +
      `install Go >= ${minimumGo.major}.${minimumGo.minor} (https://go.dev/dl), ` +
      'or use a cluster you have (npm start -- --kubeconfig FILE)',
  );
}

/** What `go version` prints, asked outside any module so that no go.mod can switch the toolchain. */
async function readGoVersion(command: string): Promise<string | undefined> {
  try {
    return (await run(command, ['version'], { cwd: tmpdir(), timeout: 30_000 })).stdout;
  } catch {
    return undefined;
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major > minimumGo.major || (major === minimumGo.major && minor >= minimumGo.minor);
}
