import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { takeFileLock } from '#infra/tools/build/file-lock.ts';

const run = promisify(execFile);

const requirementsFile = path.join(import.meta.dirname, 'requirements.txt');
const lockPollIntervalMs = 500;
/** How much of pip's output an error message quotes, in lines. */
const tailLines = 20;

/** Programs of Python that tests use, in a virtual environment of their own. */
export interface PythonEnvironment {
  /** Absolute path of its interpreter. */
  readonly python: string;
  /** Absolute path of a program that it brought along, such as `ministack` or `schemathesis`. */
  bin(name: string): string;
}

/** There is no Python here that can make a virtual environment. */
export class PythonUnavailableError extends Error {
  override readonly name = 'PythonUnavailableError';
}

/**
 * Opens the virtual environment with what `requirements.txt` pins, in `~/.cache/busdriver/python/<hash>/`; makes it first where it is
 * missing, with packages from the index that pip is configured for. Concurrent callers, in any number of processes, wait for one of them.
 *
 * @param report receives progress, a line at a time; silent when nothing has to be made
 * @throws PythonUnavailableError when Python is missing, older than 3.10, or comes without its module `venv`
 * @throws Error when pip fails, with the end of its output
 */
export async function openPythonEnvironment(
  report: (line: string) => void = () => undefined,
): Promise<PythonEnvironment> {
  const version = await getVersion();
  const requirements = await readFile(requirementsFile);
  const hash = createHash('sha256').update(`${version}\n`).update(requirements).digest('hex').slice(0, 16);
  const target = path.join(homedir(), '.cache', 'busdriver', 'python', hash);
  await mkdir(path.dirname(target), { recursive: true });
  while (!(await isComplete(target))) {
    await using lock = await takeFileLock(`${target}.lock`);
    if (lock === undefined) await sleep(lockPollIntervalMs);
    else if (!(await isComplete(target))) await make(target, report);
  }
  const bin = (name: string) => path.join(target, 'bin', name);
  return { python: bin('python'), bin };
}

/** Why there is no Python here that can make the environment; undefined where there is one. */
export async function findPythonProblem(): Promise<string | undefined> {
  try {
    await getVersion();
    return undefined;
  } catch (error) {
    if (error instanceof PythonUnavailableError) return error.message;
    throw error;
  }
}

/** Version and platform of the interpreter, which what pip installs depends on. */
async function getVersion(): Promise<string> {
  const program =
    'import ensurepip, platform, sys, venv; print(*sys.version_info[:3], platform.platform(), sys.executable)';
  const { stdout } = await run('python3', ['-c', program]).catch((error: Error) => {
    throw new PythonUnavailableError(`python3 with its module venv is needed: ${getTail(error.message)}`);
  });
  const [major = 0, minor = 0] = stdout.split(' ').map(Number);
  if (major === 3 && minor >= 10) return stdout.trim();
  throw new PythonUnavailableError(`Python 3.10 or newer is needed, python3 is ${major}.${minor}`);
}

/** Its programs carry their absolute path, so that it cannot be made elsewhere and moved: a file says that it is whole. */
const completeMark = 'complete';

async function isComplete(target: string): Promise<boolean> {
  return access(path.join(target, completeMark)).then(
    () => true,
    () => false,
  );
}

async function make(target: string, report: (line: string) => void): Promise<void> {
  const startedAtMs = performance.now();
  report('Making a virtual environment of Python with what test/deploy/requirements.txt pins (once) …');
  await rm(target, { recursive: true, force: true });
  await runOrExplain('python3', ['-m', 'venv', target]);
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet'];
  await runOrExplain(path.join(target, 'bin', 'python'), [...pip, '--requirement', requirementsFile]);
  await writeFile(path.join(target, completeMark), '');
  report(`Made it in ${Math.round((performance.now() - startedAtMs) / 1000)} s`);
}

async function runOrExplain(command: string, args: readonly string[]): Promise<void> {
  try {
    await run(command, args, { maxBuffer: 64 << 20 });
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(`The virtual environment of Python could not be made:\n${getTail(output)}`);
  }
}

function getTail(text: string): string {
  return text.trimEnd().split('\n').slice(-tailLines).join('\n');
}
