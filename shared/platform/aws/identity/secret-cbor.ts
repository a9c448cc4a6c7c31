import { cbor } from '@smithy/core/cbor';

/** Reads CBOR (RFC 8949). @throws Error for other bytes */
export function parseCbor(bytes: Uint8Array): unknown {
  return cbor.deserialize(bytes);
}
