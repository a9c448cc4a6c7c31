import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { RawItem } from './attribute-values.ts';
import { type Given, getName } from './conditions.ts';

/** Bytes that one unit is for. */
const readUnitBytes = 4_096;
const writeUnitBytes = 1_024;

/** What says whether a request wants to know what it costs. */
export interface CountedRequest {
  readonly TableName?: string | undefined;
  readonly ReturnConsumedCapacity?: string | undefined;
  readonly ConsistentRead?: boolean | undefined;
}

/** What a read has cost, for its answer. */
export function toReadUnits(request: CountedRequest, bytes: number): object {
  const units = Math.max(1, Math.ceil(bytes / readUnitBytes));
  return toUnits(request, request.ConsistentRead === true ? units : units / 2);
}

/** What a write has cost, for its answer. @param bytes of the larger one of the items before and after it */
export function toWriteUnits(request: CountedRequest, bytes: number): object {
  return toUnits(request, Math.max(1, Math.ceil(bytes / writeUnitBytes)));
}

function toUnits({ TableName, ReturnConsumedCapacity }: CountedRequest, CapacityUnits: number): object {
  return ReturnConsumedCapacity === 'TOTAL' ? { ConsumedCapacity: { TableName, CapacityUnits } } : {};
}

/** Those attributes of an item that are asked for. */
export function project(item: RawItem, projection: readonly string[] | undefined, given: Given): RawItem {
  if (projection === undefined) return item;
  const projected: { [attribute: string]: AttributeValue } = {};
  for (const operand of projection) {
    const name = getName(operand, given);
    const value = item[name];
    if (value !== undefined) projected[name] = value;
  }
  return projected;
}
