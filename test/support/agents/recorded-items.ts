import { isJsonObject } from '#core/json.ts';
import type { StoreTestClient } from '../engines/store-test-client.ts';

/** A call of DynamoDB that was made of a table. */
export interface ItemCall {
  /** As IAM calls it: `dynamodb:GetItem`. */
  readonly action: string;
  /** Partition of what it was about. */
  readonly partition: string;
}

/** Records what is asked of a table from now on. */
export function recordItemCalls(client: StoreTestClient, table: string): ItemCall[] {
  const calls: ItemCall[] = [];
  client.middlewareStack.add((next, { commandName }) => (args) => {
    const input: unknown = args.input;
    if (isJsonObject(input) && input['TableName'] === table)
      calls.push({
        action: `dynamodb:${commandName.replace(/Command$/, '')}`,
        partition: toPartition(input),
      });
    return next(args);
  });
  return calls;
}

/** @throws Error for a call that names none */
function toPartition({
  Key,
  Item,
  ExpressionAttributeValues: values,
}: {
  readonly [name: string]: unknown;
}): string {
  const of = (item: unknown, name: string): unknown => (isJsonObject(item) ? item[name] : undefined);
  const value = of(Key, 'pk') ?? of(Item, 'pk') ?? of(values, ':pk');
  const text = of(value, 'S');
  if (typeof text === 'string') return text;
  throw new Error('a call names no partition');
}
