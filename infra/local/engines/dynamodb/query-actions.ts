import type { QueryCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import type { RawItem } from './attribute-values.ts';
import { isMet } from './conditions.ts';
import { type ExpressionInput, type Expressions, readExpressions } from './expressions.ts';
import { decodeItem } from './item-codec.ts';
import { toKeyRange } from './key-conditions.ts';
import { toRowKey } from './keys.ts';
import { invalid } from './refusals.ts';
import type { KeyNames, OpenTables, Row, SortBound, TableRows } from './table-rows.ts';
import { type CountedRequest, project, toReadUnits } from './units.ts';

/** Bytes of the items that one page looks at: DynamoDB's bound. */
const pageBytesMax = 1 << 20;

/** Query. */
export function query(tables: OpenTables, input: QueryCommandInput): object {
  const rows = tables.get(input.TableName);
  const expressions = readExpressions(input);
  const { keyCondition, given } = expressions;
  if (keyCondition === undefined) throw invalid('KeyConditionExpression must be specified in the request');
  const { partition, bounds } = toKeyRange(keyCondition, rows.keys, given);
  const { ExclusiveStartKey: start } = input;
  const after = start && toRowKey(rows.keys, start);
  if (after !== undefined && after.partition !== partition) {
    throw invalid('The provided starting key is outside query boundaries based on provided conditions');
  }
  const all: SortBound[] = [...bounds, ...(after ? [{ comparator: '>', value: after.sort } as const] : [])];
  const withoutBodies = !needsBodies(input, rows);
  return toPage(rows.list({ partition, bounds: all, withoutBodies }), { input, expressions, rows });
}

/** Scan. */
export function scan(tables: OpenTables, input: ScanCommandInput): object {
  const rows = tables.get(input.TableName);
  const { ExclusiveStartKey: start } = input;
  const found = rows.scan(start && toRowKey(rows.keys, start));
  return toPage(found, { input, expressions: readExpressions(input), rows });
}

interface PageParts {
  readonly input: ExpressionInput & CountedRequest & { readonly Limit?: number | undefined };
  readonly expressions: Expressions & { readonly given: Parameters<typeof isMet>[2] };
  readonly rows: TableRows;
}

/** Whether a request asks for the attribute that has a column of its own, or has a filter look at it. */
function needsBodies(input: ExpressionInput, { bodyAttribute }: TableRows): boolean {
  const { ProjectionExpression: projection, FilterExpression: filter } = input;
  if (projection === undefined || bodyAttribute === undefined) return true;
  const names = Object.values(input.ExpressionAttributeNames ?? {}).join(' ');
  return `${projection} ${filter} ${names}`.includes(bodyAttribute);
}

/** Rows up to the limit of the request, or of a page. What a filter leaves out counts. */
function toPage(found: Iterable<Row>, { input, expressions, rows }: PageParts): object {
  const { Limit: limit = Number.POSITIVE_INFINITY } = input;
  if (limit < 1) throw invalid('Limit must be at least 1');
  const { filter, projection, given } = expressions;
  const items: RawItem[] = [];
  let last: RawItem | undefined;
  let hasMore = false;
  let bytes = 0;
  let scanned = 0;
  for (const row of found) {
    hasMore = scanned > 0 && bytes + row.bytes > pageBytesMax;
    if (hasMore) break;
    last = decodeItem(row, rows);
    bytes += row.bytes;
    scanned += 1;
    if (filter === undefined || isMet(filter, last, given)) items.push(project(last, projection, given));
    // Whether there are more, DynamoDB does not look.
    hasMore = scanned === limit;
    if (hasMore) break;
  }
  return {
    Items: items,
    Count: items.length,
    ScannedCount: scanned,
    ...(hasMore && last && { LastEvaluatedKey: toKey(last, rows.keys) }),
    ...toReadUnits(input, bytes),
  };
}

function toKey(item: RawItem, { partition, sort }: KeyNames): RawItem {
  return Object.fromEntries([partition, sort].flatMap((name) => (item[name] ? [[name, item[name]]] : [])));
}
