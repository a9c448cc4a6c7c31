import { brotliDecompressSync } from 'node:zlib';

/** A long text that a bundle holds as Brotli's bytes in base64. @throws Error for anything else */
export function unpackText(packed: string): string {
  return brotliDecompressSync(Buffer.from(packed, 'base64')).toString();
}
