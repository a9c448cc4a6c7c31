import type { StoreTestClient } from './store-test-client.ts';

/** Requests and capacity units, as DynamoDB counts them. */
export interface Units {
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

const writes = ['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand', 'BatchWriteItemCommand'];

const none: Units = { requests: 0, readUnits: 0, writeUnits: 0 };

/** Counts what DynamoDB says that a client's requests consume from now on. */
export function countCapacity(documents: StoreTestClient): { take(): Units; readonly units: Units } {
  let units = none;
  documents.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' } as typeof args.input;
        const result = await next({ ...args, input });
        const { ConsumedCapacity } = result.output as { ConsumedCapacity?: Consumed | Consumed[] };
        const consumed = [ConsumedCapacity ?? []]
          .flat()
          .reduce((sum, each) => sum + (each.CapacityUnits ?? 0), 0);
        const name = writes.includes(commandName) ? 'writeUnits' : 'readUnits';
        units = { ...units, requests: units.requests + 1, [name]: units[name] + consumed };
        return result;
      },
    { step: 'initialize', name: 'countCapacity' },
  );
  return {
    get units() {
      return units;
    },
    take() {
      const taken = units;
      units = none;
      return taken;
    },
  };
}

interface Consumed {
  readonly CapacityUnits?: number;
}
