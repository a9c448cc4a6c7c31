import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { RemoteText } from './remote-text.ts';

/** Files, and texts from afar, that something was made of, so that it can be made anew when one of them changes. */
export class WatchedFiles {
  readonly #versions = new Map<string, string>();
  readonly #remote = new Map<RemoteText, string>();
  readonly #hash = createHash('sha256');

  /** The text of a file, remembered as one to watch. */
  async read(path: string): Promise<string> {
    // Its version is taken first: a change while we read then looks like a change after it.
    this.#versions.set(path, await readVersion(path));
    const text = await readFile(path, 'utf8');
    this.#hash.update(`${path}\0${text}\0`);
    return text;
  }

  /** A text from afar, remembered as one to watch. */
  async readRemote(remote: RemoteText): Promise<string> {
    const text = await remote.get();
    this.#remote.set(remote, text);
    this.#hash.update(`${remote.name}\0${text}\0`);
    return text;
  }

  /** Has the texts from afar read again before they are next relied on: what was made of them did not work. */
  distrust(): void {
    for (const remote of this.#remote.keys()) remote.distrust();
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
    for (const [remote, text] of this.#remote) {
      if (await remote.differsFrom(text)) return true;
    }
    return false;
  }
}

async function readVersion(path: string): Promise<string> {
  const entry = await stat(path, { bigint: true }).catch(() => undefined);
  return entry === undefined ? 'missing' : `${entry.ino} ${entry.size} ${entry.mtimeNs}`;
}
