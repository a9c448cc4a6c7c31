import type { Logger } from '#core/logger.ts';
import type { Table } from '#platform/aws/tables.ts';
import { type CallOptions, type Engine, findAction } from '../engine.ts';
import { Database } from './database.ts';
import { batchGetItem, deleteItem, getItem, putItem, updateItem } from './item-actions.ts';
import { query, scan } from './query-actions.ts';
import { unknownTable } from './refusals.ts';
import type { OpenTables, TableRows } from './table-rows.ts';

/** How to open the tables. */
export interface OpenTableEngineOptions {
  /** File of the tables; made when missing. Only one process may use it at a time. */
  readonly file: string;
  /** Tables that must exist. */
  readonly tables: readonly Table[];
  readonly log: Logger;
  /** Bytes of the log of the file that a checkpoint does not wait for a quiet moment for. Default: 64 MiB. */
  readonly logBytesMax?: number;
}

/** What an action takes is what its command has. */
type TableAction = (tables: OpenTables, input: never) => object;

const actions: { readonly [name: string]: TableAction } = {
  BatchGetItem: batchGetItem,
  DeleteItem: deleteItem,
  GetItem: getItem,
  PutItem: putItem,
  Query: query,
  Scan: scan,
  UpdateItem: updateItem,
};

/**
 * The part of DynamoDB that Busdriver needs, on a file of SQLite: items of tables with two texts as their key, by the expressions that the
 * stores send. It has no indexes, transactions, expiry or change streams.
 */
export class TableEngine implements Engine {
  /** What the tables are in. */
  readonly database: Database;
  readonly #rows = new Map<string, TableRows>();
  readonly #tables: OpenTables = {
    get: (name = '') => {
      const rows = this.#rows.get(name);
      if (rows === undefined) throw unknownTable(name);
      return rows;
    },
  };

  /** @throws Error that says what to do where the file cannot be opened */
  constructor({ tables, ...options }: OpenTableEngineOptions) {
    this.database = new Database(options);
    for (const table of tables) this.createTable(table);
  }

  /** Names of the tables there are. */
  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** Makes a table unless it is there. */
  createTable(table: Table): void {
    this.#rows.set(table.name, this.database.openTable(table));
  }

  perform(action: string, input: object, { signal }: CallOptions = {}): Promise<object> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return this.database.answer(() => findAction(actions, action)(this.#tables, input as never));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.database[Symbol.asyncDispose]();
  }
}
