import { brotliDecompressSync } from 'node:zlib';

/** Unpacks a long text that a bundle holds as Brotli in base64. @throws Error for anything else */
export function unpackText(packed: string): string {
  return brotliDecompressSync(Buffer.from(packed, 'base64')).toString();
}
