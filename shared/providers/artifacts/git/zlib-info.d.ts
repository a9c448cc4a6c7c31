import type { Inflate, ZlibOptions } from 'node:zlib';

/** Node's result with the option `info`, which its types lack: the engine reports how many bytes it has read. */
declare module 'node:zlib' {
  export function inflateSync(
    data: Uint8Array,
    options: ZlibOptions & { readonly info: true },
  ): { readonly buffer: Buffer; readonly engine: Inflate };
}
