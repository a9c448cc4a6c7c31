import { damaged } from './pack-error.ts';

/** A step of a delta: a part of its base, or new bytes. */
export type DeltaStep = { readonly offset: number; readonly length: number } | { readonly bytes: Uint8Array };

/** A delta: how to make an object from another one. */
export interface Delta {
  readonly baseSize: number;
  readonly size: number;
  /** Its steps, checked to be within base and object. @throws FailedOperationError if they are not. */
  steps(): Iterable<DeltaStep>;
}

/** Reads a delta of a pack. @throws FailedOperationError if its sizes are invalid. */
export function parseDelta(bytes: Uint8Array): Delta {
  const [baseSize, afterBase] = readSize(bytes, 0);
  const [size, start] = readSize(bytes, afterBase);
  return { baseSize, size, steps: () => readSteps(bytes, { start, baseSize, size }) };
}

function readSize(bytes: Uint8Array, start: number): readonly [value: number, next: number] {
  let value = 0;
  let at = start;
  for (let factor = 1; factor < Number.MAX_SAFE_INTEGER; factor *= 128) {
    const { [at]: byte } = bytes;
    if (byte === undefined) throw damaged();
    at += 1;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return [value, at];
  }
  throw damaged();
}

interface DeltaFrame {
  readonly start: number;
  readonly baseSize: number;
  readonly size: number;
}

function* readSteps(bytes: Uint8Array, { start, baseSize, size }: DeltaFrame): Generator<DeltaStep> {
  let made = 0;
  let at = start;
  while (at < bytes.length) {
    const { [at]: command = 0 } = bytes;
    const copies = command >= 0x80;
    const next = copies ? at + 1 + countBits(command & 0x7f) : at + 1 + command;
    if (command === 0 || next > bytes.length) throw damaged();
    const step = copies ? readCopy(bytes, at) : { bytes: bytes.subarray(at + 1, next) };
    const length = 'bytes' in step ? step.bytes.length : step.length;
    made += length;
    if (made > size || ('offset' in step && step.offset + length > baseSize)) throw damaged();
    yield step;
    at = next;
  }
  if (made !== size) throw damaged();
}

/** A command's bits say which bytes of offset (4) and length (3) follow; the others are zero. */
function readCopy(bytes: Uint8Array, start: number): { readonly offset: number; readonly length: number } {
  const { [start]: command = 0 } = bytes;
  const values: number[] = [];
  let at = start + 1;
  for (let bit = 0; bit < 7; bit += 1) {
    const isThere = (command & (1 << bit)) !== 0;
    values.push(isThere ? (bytes[at] ?? 0) : 0);
    if (isThere) at += 1;
  }
  const [o0 = 0, o1 = 0, o2 = 0, o3 = 0, l0 = 0, l1 = 0, l2 = 0] = values;
  const length = l0 + l1 * 2 ** 8 + l2 * 2 ** 16;
  return { offset: o0 + o1 * 2 ** 8 + o2 * 2 ** 16 + o3 * 2 ** 24, length: length === 0 ? 2 ** 16 : length };
}

function countBits(value: number): number {
  let count = 0;
  for (let rest = value; rest > 0; rest >>= 1) count += rest & 1;
  return count;
}
