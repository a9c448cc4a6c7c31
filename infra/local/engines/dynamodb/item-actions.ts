import type {
  BatchGetItemCommandInput,
  DeleteItemCommandInput,
  GetItemCommandInput,
  PutItemCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { inspectItem, type RawItem } from './attribute-values.ts';
import { isMet } from './conditions.ts';
import { type ExpressionInput, readExpressions } from './expressions.ts';
import { decodeItem, encodeItem } from './item-codec.ts';
import { checkKeyMembers, toRowKey } from './keys.ts';
import { conditionFailed, invalid } from './refusals.ts';
import type { OpenTables, Row, RowKey, TableRows } from './table-rows.ts';
import { project, toReadUnits, toWriteUnits } from './units.ts';
import { applyUpdate } from './updates.ts';

/** Keys of one BatchGetItem: DynamoDB's bound. */
const batchKeysMax = 100;

/** Bytes of the items of one answer to BatchGetItem: DynamoDB's bound. */
const batchBytesMax = 16 << 20;

/** GetItem. */
export function getItem(tables: OpenTables, input: GetItemCommandInput): object {
  const rows = tables.get(input.TableName);
  const { projection, given } = readExpressions(input);
  const row = rows.get(toRowKey(rows.keys, input.Key));
  return {
    ...(row && { Item: project(decodeItem(row, rows), projection, given) }),
    ...toReadUnits(input, row?.bytes ?? 0),
  };
}

/** PutItem. */
export function putItem(tables: OpenTables, input: PutItemCommandInput): object {
  const rows = tables.get(input.TableName);
  const after = input.Item ?? {};
  const key = toRowKey(rows.keys, after, { isItem: true });
  const change: ItemChange = { rows, key, input };
  const before = readBefore(change);
  return write(change, { before, after });
}

/** DeleteItem. */
export function deleteItem(tables: OpenTables, input: DeleteItemCommandInput): object {
  const rows = tables.get(input.TableName);
  const change: ItemChange = { rows, key: toRowKey(rows.keys, input.Key), input };
  const before = readBefore(change);
  return write(change, { before, after: undefined });
}

/** UpdateItem, which makes an item where there is none. */
export function updateItem(tables: OpenTables, input: UpdateItemCommandInput): object {
  const rows = tables.get(input.TableName);
  const key = toRowKey(rows.keys, input.Key);
  const change: ItemChange = { rows, key, input, isRead: true };
  const before = readBefore(change);
  const { update = [], given } = readExpressions(input);
  const after = applyUpdate(update, { ...input.Key, ...before.item }, given);
  checkKeyMembers(rows.keys, after, key);
  return write(change, { before, after });
}

interface ItemChange {
  readonly rows: TableRows;
  readonly key: RowKey;
  readonly input: ExpressionInput & {
    readonly TableName?: string | undefined;
    readonly ReturnValues?: string | undefined;
    readonly ReturnConsumedCapacity?: string | undefined;
  };
  /** Whether the item is needed as it was, condition or not. */
  readonly isRead?: boolean;
}

/** What stands where something is to be written. */
interface Before {
  readonly row: Row | undefined;
  readonly item: RawItem | undefined;
}

/** @throws AwsError ConditionalCheckFailedException */
function readBefore({ rows, key, input, isRead = false }: ItemChange): Before {
  const { condition, given } = readExpressions(input);
  const isNeeded = isRead || condition !== undefined || input.ReturnValues === 'ALL_OLD';
  const isCounted = input.ReturnConsumedCapacity === 'TOTAL';
  const row = isNeeded || isCounted ? rows.get(key) : undefined;
  const item = isNeeded && row !== undefined ? decodeItem(row, rows) : undefined;
  if (condition !== undefined && !isMet(condition, item, given)) throw conditionFailed();
  return { row, item };
}

function write(
  { rows, key, input }: ItemChange,
  { before, after }: { readonly before: Before; readonly after: RawItem | undefined },
): object {
  const figures = after && inspectItem(after);
  if (after === undefined || figures === undefined) rows.delete(key);
  else rows.put(key, encodeItem(after, figures, rows));
  return {
    ...toReturned(input.ReturnValues, before.item, after),
    ...toWriteUnits(input, Math.max(before.row?.bytes ?? 0, figures?.bytes ?? 0)),
  };
}

function toReturned(
  wanted: string | undefined,
  before: RawItem | undefined,
  after: RawItem | undefined,
): object {
  if (wanted === undefined || wanted === 'NONE') return {};
  if (wanted === 'ALL_OLD') return before === undefined ? {} : { Attributes: before };
  if (wanted === 'ALL_NEW' && after !== undefined) return { Attributes: after };
  throw invalid(`ReturnValues '${wanted}' is not served here`);
}

/** BatchGetItem. */
export function batchGetItem(
  tables: OpenTables,
  { RequestItems: all = {} }: BatchGetItemCommandInput,
): object {
  const count = Object.values(all).reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
  if (count === 0 || count > batchKeysMax)
    throw invalid(`Too many items requested for the BatchGetItem call: ${count}`);
  const Responses: { [table: string]: RawItem[] } = {};
  const UnprocessedKeys: { [table: string]: object } = {};
  let bytes = 0;
  for (const [name, request] of Object.entries(all)) {
    const rows = tables.get(name);
    const { projection, given } = readExpressions(request);
    const keys = (request.Keys ?? []).map((key) => toRowKey(rows.keys, key));
    if (new Set(keys.map(({ partition, sort }) => `${partition}\0${sort}`)).size < keys.length) {
      throw invalid('Provided list of item keys contains duplicates');
    }
    const found: RawItem[] = [];
    const left = keys.findIndex((key) => {
      const row = rows.get(key);
      bytes += row?.bytes ?? 0;
      if (row === undefined) return false;
      if (bytes <= batchBytesMax) found.push(project(decodeItem(row, rows), projection, given));
      return bytes > batchBytesMax;
    });
    Responses[name] = found;
    if (left >= 0) UnprocessedKeys[name] = { ...request, Keys: request.Keys?.slice(left) };
  }
  return { Responses, UnprocessedKeys };
}
