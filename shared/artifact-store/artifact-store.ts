import { InvalidInputError } from '#core/errors.ts';

/** Where something stands in Spinnaker's artifact store: `ref://<application>/<hash>`. */
export interface StoredReference {
  /** Whose it is: who may read the application may read it. */
  readonly application: string;
  /** What it holds, as a hash: SHA-256 in hexadecimal, by Spinnaker's services. */
  readonly hash: string;
}

/** Spinnaker's artifact store, to which its other services write what would make executions large. */
export interface ArtifactStore {
  /**
   * Reads what was stored, as it arrives.
   *
   * @throws NotFoundError when there is no such thing, UnavailableError when the store is away, FailedOperationError when it refuses. What is
   *   too large, and what comes too slowly, ends with a FailedOperationError.
   */
  open(reference: StoredReference, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** Bytes of one thing in the store. */
export const storedBytesMax = 2 ** 26;

/** Things in the store that one request may refer to, each counted once. */
export const storedReferencesMax = 500;

/** What a text begins with that refers to the store. */
export const storedScheme = 'ref://';

/** Reads `ref://<application>/<hash>`. @throws InvalidInputError for another text; `where` is how the message begins. */
export function parseStoredReference(text: string, where: string): StoredReference {
  const [, application = '', hash = '', ...others] = text.slice(storedScheme.length - 1, 500).split('/');
  if (text.startsWith(storedScheme) && others.length === 0)
    return toStoredReference({ application, hash }, where);
  throw new InvalidInputError(`${where}: expected ref://<application>/<hash>`);
}

/** Checks both parts: they become a path. @throws InvalidInputError, which `where` begins. */
export function toStoredReference(reference: StoredReference, where: string): StoredReference {
  const { application, hash } = reference;
  if (!/^[A-Za-z0-9._~-]{1,250}$/.test(application) || /^\.+$/.test(application)) {
    throw new InvalidInputError(
      `${where}: application: expected the name of an application, of letters, digits, '.', '_', '~' and '-'`,
    );
  }
  if (!/^[A-Za-z0-9]{1,128}$/.test(hash)) {
    throw new InvalidInputError(`${where}: hash: expected up to 128 letters and digits, as of SHA-256`);
  }
  return reference;
}

/** `ref://shop/867867a8…`. */
export function formatStoredReference({ application, hash }: StoredReference): string {
  return `${storedScheme}${application}/${hash}`;
}
