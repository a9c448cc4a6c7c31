import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

/** Files that something was made of, so that it can be made anew when one of them changes. */
export class WatchedFiles {
  readonly #versions = new Map<string, string>();
  readonly #hash = createHash('sha256');

  /** The text of a file, remembered as one to watch. */
  async read(path: string): Promise<string> {
    // Its version is taken first: a change while we read then looks like a change after it.
    this.#versions.set(path, await readVersion(path));
    const text = await readFile(path, 'utf8');
    this.#hash.update(`${path}\0${text}\0`);
    return text;
  }

  /** A digest of all that was read so far; takes no further reads into account once asked for. */
  getFingerprint(): string {
    return this.#hash.copy().digest('base64');
  }

  /** True when a file looks other than when it was read; costs one `stat` each. */
  async haveChanged(): Promise<boolean> {
    for (const [path, version] of this.#versions) {
      if ((await readVersion(path)) !== version) return true;
    }
    return false;
  }
}

async function readVersion(path: string): Promise<string> {
  const entry = await stat(path, { bigint: true }).catch(() => undefined);
  return entry === undefined ? 'missing' : `${entry.ino} ${entry.size} ${entry.mtimeNs}`;
}
