/** Longest part of the coordinates of a file, and longest version that a repository tells, in characters. */
export const coordinateLengthMax = 256;

/**
 * Whether a text may be a part of what a file of a repository is known by, and so of its path: Maven refuses these characters, and dots alone
 * would lead elsewhere.
 */
export function isCoordinate(text: string): boolean {
  const isWithin = text !== '' && text.length <= coordinateLengthMax && text.isWellFormed();
  return isWithin && !/[\\/:"<>|?*[\](){},\s\p{Cc}]/u.test(text) && !/^\.+$/.test(text);
}
