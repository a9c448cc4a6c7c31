import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import type { RemoteText } from '#settings/remote-text.ts';
import { kubeconfigBytesMax } from '../api/answer-limits.ts';

/** Files and remote texts from which something was made, so that it can be made again when one of them changes. */
export class WatchedFiles {
  readonly #versions = new Map<string, string>();
  readonly #remote = new Map<RemoteText, string>();
  readonly #hash = createHash('sha256');

  /** The text of a file, which is then watched. @throws Error for one of more than `kubeconfigBytesMax` */
  async read(path: string): Promise<string> {
    // Its version is read first: a change during the read then counts as a later change.
    this.#versions.set(path, await readVersion(path));
    const text = await readText(path);
    this.#hash.update(`${path}\0${text}\0`);
    return text;
  }

  /** A remote text, which is then watched. @throws Error for one of more than `kubeconfigBytesMax` */
  async readRemote(remote: RemoteText): Promise<string> {
    const text = await remote.get();
    if (text.length > kubeconfigBytesMax) throw tooLarge(remote.name);
    this.#remote.set(remote, text);
    this.#hash.update(`${remote.name}\0${text}\0`);
    return text;
  }

  /** Has the remote texts read again before their next use: what was made from them did not work. */
  invalidate(): void {
    for (const remote of this.#remote.keys()) remote.invalidate();
  }

  /** A digest of everything read so far. */
  getFingerprint(): string {
    return this.#hash.copy().digest('base64');
  }

  /** True if a file differs from when it was read; costs one `stat` each. */
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

/** Ignores the reported size: a device has none, and no end. */
async function readText(path: string): Promise<string> {
  await using file = await open(path);
  const bytes = Buffer.alloc(kubeconfigBytesMax + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
    length += bytesRead;
    if (length > kubeconfigBytesMax) throw tooLarge(path);
    if (bytesRead === 0) return bytes.toString('utf8', 0, length);
  }
}

function tooLarge(name: string): Error {
  return new Error(`${name}: it is larger than ${kubeconfigBytesMax} bytes`);
}

async function readVersion(path: string): Promise<string> {
  const entry = await stat(path, { bigint: true }).catch(() => undefined);
  return entry === undefined ? 'missing' : `${entry.ino} ${entry.size} ${entry.mtimeNs}`;
}
