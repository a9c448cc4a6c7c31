import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import { AwsError } from '../engine.ts';
import { findInteger, findText, getObject, getText } from '../engine-input.ts';
import { delayRange } from './queue-attributes.ts';

/** A message as its sender gave it, checked. */
export interface MessageDraft {
  readonly body: string;
  readonly bodyMd5: string;
  /** As on the wire: `{name: {DataType, StringValue | BinaryValue}}`. */
  readonly attributes: JsonObject;
  /** Undefined without attributes. */
  readonly attributesMd5: string | undefined;
  /** The `AWSTraceHeader` system attribute, undefined without one. */
  readonly traceHeader: string | undefined;
  /** `MessageGroupId`, undefined without one. */
  readonly groupId: string | undefined;
  /** Undefined for the queue's own delay. */
  readonly delaySeconds: number | undefined;
  /** Bytes that count against the limit. */
  readonly size: number;
}

/** Characters that XML 1.0 cannot hold, which SQS refuses; lone surrogates are among them. */
const forbiddenCharacters = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/**
 * Reads a message from the input of SendMessage or an entry of SendMessageBatch.
 *
 * @throws AwsError MissingParameter, InvalidParameterValue or InvalidMessageContents
 */
export function parseMessageDraft(input: JsonObject): MessageDraft {
  const body = getText(input, 'MessageBody');
  if (forbiddenCharacters.test(body)) {
    throw new AwsError('InvalidMessageContents', 'Invalid characters found in the message body.');
  }
  const attributes = getObject(input, 'MessageAttributes');
  const encoded = encodeAttributes(attributes);
  const trace = getObject(getObject(input, 'MessageSystemAttributes'), 'AWSTraceHeader');
  return {
    body,
    bodyMd5: hashMd5(body),
    attributes,
    attributesMd5: hashAttributes(encoded),
    traceHeader: findText(trace, 'StringValue'),
    groupId: parseGroupId(findText(input, 'MessageGroupId')),
    delaySeconds: findInteger(input, 'DelaySeconds', delayRange),
    size: Buffer.byteLength(body) + encoded.reduce((sum, { parts }) => sum + countBytes(parts), 0),
  };
}

/**
 * The attributes that a receiver asked for.
 *
 * @param names `All`, `.*`, names, or prefixes such as `trace.*`
 */
export function pickAttributes(attributes: JsonObject, names: readonly string[]): JsonObject {
  const isWanted = (name: string) => names.some((wanted) => matchesName(wanted, name));
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => isWanted(name)));
}

/** MD5 of a message's attributes as SQS computes it, undefined when there are none. */
export function hashMessageAttributes(attributes: JsonObject): string | undefined {
  return hashAttributes(encodeAttributes(attributes));
}

interface EncodedAttribute {
  readonly name: string;
  /** Name, type and value. */
  readonly parts: readonly [Buffer, Buffer, Buffer];
  /** 1 for strings and numbers, 2 for binary values. */
  readonly encoding: 1 | 2;
}

function encodeAttributes(attributes: JsonObject): readonly EncodedAttribute[] {
  const names = Object.keys(attributes).sort();
  if (names.length > 10) {
    throw new AwsError(
      'InvalidParameterValue',
      'Number of message attributes [10] exceeds the allowed maximum.',
    );
  }
  return names.map((name) => encodeAttribute(name, attributes[name]));
}

function encodeAttribute(name: string, value: unknown): EncodedAttribute {
  const refuse = (reason: string) =>
    new AwsError('InvalidParameterValue', `The message attribute '${name}' ${reason}`);
  if (!/^[\w.-]{1,256}$/.test(name)) throw refuse('has an invalid name.');
  if (!isJsonObject(value)) throw refuse('must be a structure.');
  const type = getText(value, 'DataType');
  const kind = type.split('.')[0];
  const text = findText(value, kind === 'Binary' ? 'BinaryValue' : 'StringValue');
  if (kind !== 'String' && kind !== 'Number' && kind !== 'Binary') {
    throw refuse('has an invalid type: only Binary, Number and String are supported.');
  }
  if (text === undefined || text === '') throw refuse(`must contain a value of type ${kind}.`);
  const content = Buffer.from(text, kind === 'Binary' ? 'base64' : 'utf8');
  return {
    name,
    parts: [Buffer.from(name), Buffer.from(type), content],
    encoding: kind === 'Binary' ? 2 : 1,
  };
}

/** SQS' digest: each attribute by name; name, type and value behind their lengths, the value behind its encoding. */
function hashAttributes(attributes: readonly EncodedAttribute[]): string | undefined {
  if (attributes.length === 0) return undefined;
  const hash = createHash('md5');
  for (const { parts, encoding } of attributes) {
    const [name, type, value] = parts.map((part) => Buffer.concat([encodeLength(part.length), part]));
    hash
      .update(name ?? '')
      .update(type ?? '')
      .update(Buffer.from([encoding]))
      .update(value ?? '');
  }
  return hash.digest('hex');
}

function encodeLength(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}

function countBytes(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

function hashMd5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function parseGroupId(groupId: string | undefined): string | undefined {
  if (groupId === undefined || /^[\x21-\x7E]{1,128}$/.test(groupId)) return groupId;
  throw new AwsError(
    'InvalidParameterValue',
    'Value for parameter MessageGroupId is invalid. ' +
      'Reason: It must hold 1 to 128 letters, digits and ASCII punctuation.',
  );
}

function matchesName(wanted: string, name: string): boolean {
  if (wanted === 'All' || wanted === '.*') return true;
  return wanted.endsWith('.*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted;
}
