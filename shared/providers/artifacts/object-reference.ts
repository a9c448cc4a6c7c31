/** Longest reference to an object of a bucket, in characters: the bucket, 1,024 bytes of a name, a version. */
export const objectReferenceLengthMax = 2_048;

/** A parsed reference to an object of a bucket. */
interface ObjectReference {
  readonly bucket: string;
  /** Name of the object, including slashes. */
  readonly object: string;
  /** What follows the last `#`: undefined if there is none. */
  readonly version: string | undefined;
}

/**
 * Reads `<scheme>://bucket/path#version`, as in Clouddriver; the scheme is optional.
 *
 * @param scheme with its colon: `gs:`.
 * @returns undefined for anything else, and for objects that no URL can name: '.' and '..'. The caller checks the characters of the bucket.
 */
export function parseObjectReference(
  reference: string | undefined,
  scheme: string,
): ObjectReference | undefined {
  if (!reference || reference.length > objectReferenceLengthMax) return undefined;
  const prefix = `${scheme}//`;
  const path = reference.startsWith(prefix) ? reference.slice(prefix.length) : reference;
  const slash = path.indexOf('/');
  if (slash === -1) return undefined;
  const name = path.slice(slash + 1);
  const mark = name.lastIndexOf('#');
  const object = mark === -1 ? name : name.slice(0, mark);
  if (/^\.{0,2}$/.test(object)) return undefined;
  return {
    ...{ bucket: path.slice(0, slash), object: object.toWellFormed() },
    version: mark === -1 ? undefined : name.slice(mark + 1),
  };
}
