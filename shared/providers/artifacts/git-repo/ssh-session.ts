import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { FailedOperationError, NotFoundError, TooLargeError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';

/** How `ssh` is run. */
export interface SshProgram {
  readonly args: readonly string[];
  /** All of its environment; `PATH` says where it is. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Artifact account and host that it is run for, for messages and the log. */
  readonly account: string;
  readonly host: string;
  readonly log: Logger;
  /** Longest pause between two pieces of an answer, in milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Most bytes of all answers together. */
  readonly bytesMax: number;
}

/** Characters of the end of what `ssh` and the host say of a failure that are looked at and logged. */
const wordsMax = 2_000;

/** With this status `ssh` itself fails; any other one is that of the program on the host. */
const sshFailedStatus = 255;

/** What `ssh` says of what went wrong, and what a user is told. */
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

/** What servers of git say when there is no such repository, or when the user may not know of it. */
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
    // A group of its own has no terminal that anybody could be asked at, and ends as a whole.
    const child = spawn('ssh', program.args, { env: program.environment, stdio: 'pipe', detached: true });
    this.#child = child;
    this.#pieces = child.stdout[Symbol.asyncIterator]();
    // Whoever goes while he is written to has ended: that is told by how he ends.
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

  /** Sends a text to the program. @param isLast whether nothing comes behind it. */
  write(text: string, isLast: boolean): void {
    if (isLast) this.#child.stdin.end(text);
    else this.#child.stdin.write(text);
  }

  /**
   * What the program says from here on, as it arrives. Whoever stops reading may read on by another call.
   *
   * @throws FailedOperationError when the call fails or says nothing for too long, NotFoundError when there is no such repository,
   *   TooLargeError when it says more than it may, the signal's reason.
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
      // Its output was closed, for a reason that is told elsewhere.
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

  /** What its status means; the words go to the log alone, for they are the host's. */
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
