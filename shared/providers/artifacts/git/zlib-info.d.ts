import type { Inflate, ZlibOptions } from 'node:zlib';

/** What Node answers with the option `info`, which its types leave out: the engine tells how many bytes it has read. */
declare module 'node:zlib' {
  export function inflateSync(
    data: Uint8Array,
    options: ZlibOptions & { readonly info: true },
  ): { readonly buffer: Buffer; readonly engine: Inflate };
}
