import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject, parseJson } from '#core/json.ts';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import { AwsError } from '../engine.ts';
import { findText, getTexts } from '../engine-input.ts';

/** An event as EventBridge delivers it. */
export interface BusEvent extends JsonObject {
  readonly id: string;
}

/** The size that EventBridge counts of an entry of PutEvents, in bytes. */
export function measureEntry(entry: JsonObject): number {
  const texts = [entry['Source'], entry['DetailType'], entry['Detail'], ...getTexts(entry, 'Resources')];
  const textBytes = texts.reduce<number>((sum, text) => sum + Buffer.byteLength(String(text ?? '')), 0);
  return textBytes + (entry['Time'] === undefined ? 0 : 14);
}

/** Makes the event of an entry of PutEvents, as commands of the SDK have it. @throws AwsError InvalidArgument or MalformedDetail */
export function toBusEvent(entry: JsonObject, nowMs: number): BusEvent {
  const [source, detailType, detail] = ['Source', 'DetailType', 'Detail'].map((name) =>
    getRequired(entry, name),
  );
  const time: unknown = entry['Time'];
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': detailType ?? '',
    source: source ?? '',
    account: localAccountId,
    time: formatTime(time instanceof Date ? time.getTime() : nowMs),
    region: localRegion,
    resources: [...getTexts(entry, 'Resources')],
    detail: parseDetail(detail ?? ''),
  };
}

/** The bus that a request names, by name or ARN; `default` when it names none. */
export function getBusName(input: JsonObject, member: string): string {
  const name = findText(input, member) ?? 'default';
  return name.slice(name.lastIndexOf('/') + 1);
}

function getRequired(entry: JsonObject, name: string): string {
  const value = entry[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new AwsError(
    'InvalidArgument',
    `Parameter ${name} is not valid. Reason: ${name} is a required argument.`,
  );
}

function parseDetail(text: string): JsonObject {
  const detail = parseJson(text);
  if (isJsonObject(detail)) return detail;
  throw new AwsError('MalformedDetail', 'Detail is malformed.');
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}
