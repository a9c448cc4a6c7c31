const offset = 0x811c9dc5;
const prime = 0x01000193;

/** A number below 2^32 that spreads texts evenly and stays the same for ever (FNV-1a over UTF-16 units). No secret. */
export function hashText(text: string): number {
  let hash = offset;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  }
  return hash >>> 0;
}
