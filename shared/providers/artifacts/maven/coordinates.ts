/** The longest part of a file's coordinates, and the longest version of a repository, in characters. */
export const coordinateLengthMax = 256;

/**
 * Whether a text may be a part of a file's coordinates, and so of its path: Maven refuses the other characters, and dots alone would lead
 * elsewhere.
 */
export function isCoordinate(text: string): boolean {
  const isWithin = text !== '' && text.length <= coordinateLengthMax && text.isWellFormed();
  return isWithin && !/[\\/:"<>|?*[\](){},\s\p{Cc}]/u.test(text) && !/^\.+$/.test(text);
}
