import type { Randomness } from '#core/clock.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Characters of an id: 130 bits in Crockford's base 32, the form of Clouddriver's ULIDs. */
const idLength = 26;

/** The task's id for a `clientRequestId`, the same for the same one, so that its header is written once; random for none. */
export async function getTaskId(requestId: string, randomness: Randomness): Promise<string> {
  if (requestId === '') return randomness.id();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`task:${requestId}`));
  return toBase32(new Uint8Array(digest));
}

/** The first 130 bits in Crockford's base 32. */
export function toBase32(bytes: Uint8Array): string {
  let bits = 0n;
  for (const byte of bytes.subarray(0, 17)) bits = (bits << 8n) | BigInt(byte);
  bits >>= 6n;
  let text = '';
  for (let index = 0; index < idLength; index += 1) {
    text = alphabet.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}
