import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { isJsonObject } from '../../../shared/core/json.ts';
import { type callTimeouts, openDocuments } from '../../../shared/runtime/services/aws-clients.ts';
import type { Services } from '../../../shared/runtime/services/services.ts';

/** A call of DynamoDB that was made of a table. */
export interface ItemCall {
  /** As IAM calls it: `dynamodb:GetItem`. */
  readonly action: string;
  /** Partition of what it was about. */
  readonly partition: string;
}

/** Records what an installation asks of a table from now on. It must not have asked for anything before. */
export function recordItemCalls(services: Services, table: string): ItemCall[] {
  const calls: ItemCall[] = [];
  for (const kind of ['request', 'work'] as const satisfies readonly (keyof typeof callTimeouts)[]) {
    const client: DynamoDBClient = openDocuments(services, kind);
    client.middlewareStack.add(
      (next, { commandName = '' }) =>
        (args) => {
          const input: unknown = args.input;
          if (isJsonObject(input) && input['TableName'] === table)
            calls.push({
              action: `dynamodb:${commandName.replace(/Command$/, '')}`,
              partition: toPartition(input),
            });
          return next(args);
        },
      { step: 'initialize', name: 'recorder' },
    );
  }
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
