import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { FailedOperationError, NotFoundError, TooLargeError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';

/** The options of running `ssh`. */
export interface SshProgram {
  readonly args: readonly string[];
  /** Its complete environment; `PATH` says where it is. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Its artifact account and host, for messages and the log. */
  readonly account: string;
  readonly host: string;
  readonly log: Logger;
  /** Longest pause between two pieces of an answer, in milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Most bytes of all answers together. */
  readonly bytesMax: number;
}

/** Characters of the end of the error output of `ssh` and the host that are checked and logged. */
const wordsMax = 2_000;

/** The status of a failure of `ssh` itself; any other is that of the program on the host. */
const sshFailedStatus = 255;

/** Error texts of `ssh`, and the messages for users. */
const sshFailures: readonly (readonly [words: RegExp, reason: string])[] = [
  [
    /Host key verification failed|HOST IDENTIFICATION/,
    'its key is not among the known hosts (sshKnownHostsFilePath)',
  ],
  [/Identity file .* not accessible|Load key /, 'sshPrivateKeyFilePath or its passphrase cannot be used'],
  [/Permission denied|authentication failures/i, 'the key of the account was refused'],
  [/timed out/i, 'no connection in time'],
  [/Connection refused/i, 'the connection was refused'],
  [/Connection (?:closed|reset)|Broken pipe/i, 'the connection was lost'],
];

/** Texts of git servers for a repository that does not exist, or that the user may not know of. */
const missingRepository = /not (?:be )?found|does not appear|does not exist|no such/i;

/** A call of a program on a host by `ssh`. Disposing of it ends the call. */
export class SshSession implements Disposable {
  readonly #program: SshProgram;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #ended = Promise.withResolvers<NodeJS.ErrnoException | number>();
  #failure: unknown;
  #words = '';
  #bytes = 0;

  /** @param signal ends the call. */
  constructor(program: SshProgram, signal: AbortSignal) {
    this.#program = program;
    // A separate process group has no terminal for prompts, and ends as a whole.
    const child = spawn('ssh', program.args, { env: program.environment, stdio: 'pipe', detached: true });
    this.#child = child;
    this.#pieces = child.stdout[Symbol.asyncIterator]();
    // An error while writing means that the process has ended: its exit is reported instead.
    child.stdin.on('error', () => {});
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#words = (this.#words + text).slice(-wordsMax);
    });
    const stop = () => this.#stop(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    child.once('error', (error) => {
      this.#ended.resolve(error);
      child.stdout.destroy();
    });
    child.once('close', (status) => {
      signal.removeEventListener('abort', stop);
      this.#ended.resolve(status ?? sshFailedStatus);
    });
  }

  /** Sends a text to the program. @param isLast whether nothing follows it. */
  write(text: string, isLast: boolean): void {
    if (isLast) this.#child.stdin.end(text);
    else this.#child.stdin.write(text);
  }

  /**
   * The program's output from here on, as it arrives. After a reader stops, another call continues.
   *
   * @throws FailedOperationError if the call fails or is silent for too long, NotFoundError if there is no such repository, TooLargeError
   *   if there is too much output, the signal's reason.
   */
  async *read(): AsyncGenerator<Buffer> {
    for (let piece = await this.#next(); piece !== undefined; piece = await this.#next()) {
      this.#bytes += piece.length;
      if (this.#bytes > this.#program.bytesMax) {
        throw new TooLargeError(
          `The answer of ${this.#program.host} is larger than the limit of ${this.#program.bytesMax} bytes`,
        );
      }
      yield piece;
    }
    const end = await this.#ended.promise;
    const failure =
      this.#failure ?? (typeof end === 'number' ? this.#describe(end) : this.#describeStart(end));
    if (failure !== undefined) throw failure;
  }

  [Symbol.dispose](): void {
    this.#stop(this.#fail('the call was ended'));
  }

  async #next(): Promise<Buffer | undefined> {
    const stalled = () => this.#stop(this.#fail('the transfer stalled'));
    const timer = setTimeout(stalled, this.#program.bodyTimeoutMs);
    try {
      return (await this.#pieces.next()).value;
    } catch {
      // Its output was closed, for a reason that is reported elsewhere.
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #stop(failure: unknown): void {
    this.#failure ??= failure;
    const { pid, exitCode, signalCode, stdin, stdout } = this.#child;
    stdin.destroy();
    stdout.destroy();
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }

  #fail(reason: string, cause?: unknown): FailedOperationError {
    return new FailedOperationError(`Unable to read from ${this.#program.host}: ${reason}`, { cause });
  }

  #describeStart(error: NodeJS.ErrnoException): FailedOperationError {
    if (error.code !== 'ENOENT') return this.#fail(`the program ssh could not be started (${error.code})`);
    return this.#fail('the program ssh was not found: install the client of OpenSSH, or put it into PATH');
  }

  /** The error for a status; the output goes only to the log, since it is the host's. */
  #describe(status: number): Error | undefined {
    if (status === 0) return undefined;
    const { account, host, log } = this.#program;
    const words = this.#words.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
    log.warn('ssh has failed', { account, host, status, words });
    if (status !== sshFailedStatus && missingRepository.test(words)) {
      return new NotFoundError(
        `${host} says that there is no such repository (artifact account '${account}')`,
      );
    }
    const [, reason] = (status === sshFailedStatus && sshFailures.find(([known]) => known.test(words))) || [];
    return this.#fail(reason ?? `ssh ended with status ${status}; what was said is in the log`);
  }
}
