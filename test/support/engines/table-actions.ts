import type { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { AwsError, type CallOptions, type Engine } from '#infra/local/engines/engine.ts';

interface CreateTableInput {
  readonly TableName?: string;
  readonly KeySchema?: readonly { readonly AttributeName?: string }[];
}

interface BatchWriteItemInput {
  readonly RequestItems?: {
    readonly [table: string]: readonly {
      readonly PutRequest?: { readonly Item?: object };
      readonly DeleteRequest?: { readonly Key?: object };
    }[];
  };
}

/** The tables with those actions, too, that no function calls: what an operator, a test and other homes ask of DynamoDB. */
export class TableActions implements Pick<Engine, 'perform'> {
  readonly #engine: TableEngine;

  constructor(engine: TableEngine) {
    this.#engine = engine;
  }

  async perform(action: string, input: object, options?: CallOptions): Promise<object> {
    if (action === 'CreateTable') return this.#createTable(input);
    if (action === 'DescribeTable') return { Table: this.#describe(input) };
    if (action === 'BatchWriteItem') return this.#batchWriteItem(input);
    return this.#engine.perform(action, input, options);
  }

  /** Makes a table as our own are: two texts are its key. */
  #createTable({ TableName = '', KeySchema = [] }: CreateTableInput): object {
    if (this.#engine.names.includes(TableName)) {
      throw new AwsError('ResourceInUseException', `Table already exists: ${TableName}`);
    }
    const [partitionKey = '', sortKey = ''] = KeySchema.map(({ AttributeName = '' }) => AttributeName);
    this.#engine.createTable({ name: TableName, partitionKey, sortKey, ttlAttribute: '' });
    return { TableDescription: this.#describe({ TableName }) };
  }

  #describe({ TableName = '' }: CreateTableInput): object {
    if (this.#engine.names.includes(TableName)) {
      const KeySchema = [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ];
      return { TableName, TableStatus: 'ACTIVE', KeySchema };
    }
    throw new AwsError(
      'ResourceNotFoundException',
      `Requested resource not found: Table: ${TableName} not found`,
    );
  }

  async #batchWriteItem({ RequestItems: all = {} }: BatchWriteItemInput): Promise<object> {
    for (const [TableName, requests] of Object.entries(all)) {
      for (const { PutRequest, DeleteRequest } of requests) {
        if (PutRequest) await this.#engine.perform('PutItem', { ...PutRequest, TableName });
        if (DeleteRequest) await this.#engine.perform('DeleteItem', { ...DeleteRequest, TableName });
      }
    }
    return { UnprocessedItems: {} };
  }
}
