import { InvalidInputError } from '#core/errors.ts';

/** A reference to Spinnaker's artifact store: `ref://<application>/<hash>`. */
export interface StoredReference {
  /** The application that owns it: callers that may read the application may read it. */
  readonly application: string;
  /** Hash of its content: SHA-256 in hexadecimal, by Spinnaker's services. */
  readonly hash: string;
}

/** Spinnaker's artifact store, where its other services put what would make executions large. */
export interface ArtifactStore {
  /**
   * Reads a stored content, as it arrives.
   *
   * @throws NotFoundError when it does not exist, UnavailableError when the store is unavailable, FailedOperationError when it refuses.
   *   Content that is too large or too slow ends with a FailedOperationError.
   */
  open(reference: StoredReference, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** Bytes of one stored content. */
export const storedBytesMax = 2 ** 26;

/** Stored contents that one request may refer to, each counted once. */
export const storedReferencesMax = 500;

/** Prefix of a text that refers to the store. */
export const storedScheme = 'ref://';

/** Reads `ref://<application>/<hash>`. @throws InvalidInputError for another text; `where` is the prefix of its message. */
export function parseStoredReference(text: string, where: string): StoredReference {
  const [, application = '', hash = '', ...others] = text.slice(storedScheme.length - 1, 500).split('/');
  if (text.startsWith(storedScheme) && others.length === 0)
    return toStoredReference({ application, hash }, where);
  throw new InvalidInputError(`${where}: expected ref://<application>/<hash>`);
}

/** Checks both parts: they become a path. @throws InvalidInputError, with the prefix `where`. */
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
