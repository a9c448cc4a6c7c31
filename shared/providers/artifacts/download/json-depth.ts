/** The most levels of objects and lists in an artifact host's answer. GitHub's answers have about five. */
export const jsonDepthMax = 64;

const quote = 0x22;
const backslash = 0x5c;
const openings: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closings: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Whether JSON in UTF-8 has no more than `levelsMax` levels of objects and lists. It checks only brackets outside of strings, byte by byte,
 * so that input that is too deep, or not JSON at all, never reaches a recursive parser.
 */
export function isShallowJson(bytes: Uint8Array, levelsMax: number): boolean {
  let level = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte === quote) inString = !inString;
    else if (inString) index += byte === backslash ? 1 : 0;
    else if (openings.has(byte)) level += 1;
    else if (closings.has(byte)) level -= 1;
    if (level > levelsMax) return false;
  }
  return true;
}
