import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readEnvironment } from '#platform/config.ts';
import type { GoToolchain } from './go-toolchain.ts';

const run = promisify(execFile);

/** What is compiled: the same as in build.sh. */
const targets = ['.', 'k8s.io/kubernetes/cmd/kubectl'];

/** Lines of problems that are kept: the last ones. */
const problemsMax = 20;

/** A line of `go build -v`: the path of a package that it begins to compile. */
const packageLine = /^[a-z][\w.~-]*(?:\/[\w.~-]+)*$/;

/** What part of a build is done, as far as Go reports. */
export class BuildProgress {
  /** The last lines about something else. */
  readonly problems: string[] = [];
  #downloads = 0;
  #packages = 0;
  #total: number | undefined;

  /** Takes a line that Go wrote to standard error. */
  add(line: string): void {
    if (line.startsWith('go: downloading ')) this.#downloads += 1;
    else if (packageLine.test(line)) this.#packages += 1;
    else this.problems.push(line);
    if (this.problems.length > problemsMax) this.problems.shift();
  }

  /** @param total packages that are compiled in a build of which nothing is there; undefined where that is not known */
  setTotal(total: number | undefined): void {
    this.#total = total;
  }

  /** The end of a sentence, empty at the beginning. Go compiles nothing twice, so the last part may be a leap. */
  describe(): string {
    if (this.#packages === 0) {
      return this.#downloads === 0 ? '' : `: ${this.#downloads} Go modules downloaded, nothing compiled yet`;
    }
    const total = this.#total === undefined ? '' : ` of ${Math.max(this.#total, this.#packages)}`;
    return `: ${this.#packages}${total} packages compiled`;
  }
}

/** How to ask Go for packages. */
export interface CountPackagesOptions {
  readonly go: GoToolchain;
  readonly signal: AbortSignal | undefined;
}

/**
 * Counts what has to be compiled; downloads what it needs for that, as the build does.
 *
 * @param source folder of the sources
 * @returns undefined when Go does not report it
 */
export async function countPackages(
  source: string,
  { go, signal }: CountPackagesOptions,
): Promise<number | undefined> {
  try {
    const { stdout } = await run(go.command, ['list', '-deps', ...targets], {
      cwd: source,
      env: { ...readEnvironment(), GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
      maxBuffer: 16 << 20,
      ...(signal && { signal }),
    });
    const count = stdout.split('\n').filter((line) => packageLine.test(line)).length;
    return count > 0 ? count : undefined;
  } catch {
    return undefined;
  }
}
