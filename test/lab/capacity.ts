import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/** What DynamoDB lets one partition do in a second, in capacity units. */
export const partitionUnits = { write: 1_000, read: 3_000 } as const;

/** Bytes of an item that one unit pays for. */
const unitBytes = { write: 1_024, read: 4_096 } as const;

/** What is counted apart from each other. */
export type UnitKind = keyof typeof partitionUnits;

interface Bucket {
  units: number;
  /** By the monotonic clock, milliseconds. */
  countedAtMs: number;
}

/**
 * What is left of the throughput of each partition: DynamoDB takes a request on while something is left, and refuses what comes in
 * the rest of the second.
 */
export class PartitionCapacity {
  readonly #buckets = new Map<string, Bucket>();
  readonly #nowMs: () => number;

  /** @param nowMs the monotonic clock, milliseconds */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Whether nothing is left at the moment. */
  isSpent(partition: string, kind: UnitKind): boolean {
    return this.#count(partition, kind).units <= 0;
  }

  /** Takes what a request used. It may be more than there was. */
  take(partition: string, kind: UnitKind, units: number): void {
    this.#count(partition, kind).units -= units;
  }

  #count(partition: string, kind: UnitKind): Bucket {
    const key = `${kind} ${partition}`;
    const most = partitionUnits[kind];
    const nowMs = this.#nowMs();
    const bucket = this.#buckets.get(key) ?? { units: most, countedAtMs: nowMs };
    bucket.units = Math.min(most, bucket.units + ((nowMs - bucket.countedAtMs) / 1_000) * most);
    bucket.countedAtMs = nowMs;
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/** Units that an item costs: half as many when it is read without consistency. */
export function countUnits(item: JsonValue, kind: UnitKind): number {
  return Math.max(1, Math.ceil(measureItem(item) / unitBytes[kind]));
}

/** Bytes of an item as DynamoDB counts them, about: names and values. */
function measureItem(item: JsonValue): number {
  if (!isJsonObject(item)) return 0;
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + measureValue(value),
    0,
  );
}

/** A value in DynamoDB's JSON: `{"S": "text"}`, `{"L": […]}`, `{"M": {…}}`. */
function measureValue(value: JsonValue): number {
  if (!isJsonObject(value)) return 0;
  const [type = '', content = null] = Object.entries(value)[0] ?? [];
  if (typeof content === 'string') return type === 'B' ? content.length * 0.75 : Buffer.byteLength(content);
  if (Array.isArray(content))
    return content.reduce<number>((sum, one) => sum + 1 + measureValue(toTyped(one)), 3);
  return type === 'M' ? 3 + measureItem(content as JsonObject) : 1;
}

/** Sets hold plain texts where lists hold typed values. */
function toTyped(one: JsonValue): JsonValue {
  return typeof one === 'string' ? { S: one } : one;
}
