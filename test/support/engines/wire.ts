import { isJsonObject, type JsonObject } from '#core/json.ts';

/** A request as commands of the SDK have it: what is binary is bytes, and base64 on the wire. */
export function fromWire(input: JsonObject): object {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      if (name === 'B' && typeof value === 'string') return [name, toBytes(value)];
      if (name === 'BS' && Array.isArray(value)) return [name, value.map((each) => toBytes(String(each)))];
      return [name, fromWireValue(value)];
    }),
  );
}

function fromWireValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWireValue);
  return isJsonObject(value) ? fromWire(value) : value;
}

function toBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** An answer as it goes over the wire. */
export function toWire(output: object): object {
  return Object.fromEntries(Object.entries(output).map(([name, value]) => [name, toWireValue(value)]));
}

function toWireValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toWireValue);
  return typeof value === 'object' && value !== null ? toWire(value) : value;
}

/** A request of EventBridge as commands of the SDK have it: times are seconds on the wire. */
export function fromWireTime(input: JsonObject): object {
  const { Entries: entries, ...others } = input;
  if (!Array.isArray(entries)) return input;
  const read = entries.filter(isJsonObject).map((entry) => {
    const { Time: time } = entry;
    return typeof time === 'number' ? { ...entry, Time: new Date(time * 1_000) } : entry;
  });
  return { ...others, Entries: read };
}
