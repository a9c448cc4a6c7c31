import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Table } from '#platform/aws/tables.ts';

/** Names of the attributes that are the key of an item; both are texts. */
export interface KeyNames {
  readonly partition: string;
  readonly sort: string;
}

/** Key of a row. */
export interface RowKey {
  readonly partition: string;
  readonly sort: string;
}

/** An item as a row has it: see `encodeItem`. */
export interface Row {
  readonly text: string;
  /** The body of an item that has one; left out where it was not asked for. */
  readonly body?: string | Uint8Array | null | undefined;
  /** As DynamoDB counts them. */
  readonly bytes: number;
}

/** A bound of sort keys. */
export interface SortBound {
  readonly comparator: '=' | '<' | '<=' | '>' | '>=';
  readonly value: string;
}

/** What the rows of a table are made of. */
export interface TableRowsOptions {
  readonly table: Table;
  /** Is called before each write. @throws Error when nothing can be written */
  beginWrite(): void;
}

/** Which rows of a partition to read. */
export interface RowRange {
  readonly partition: string;
  readonly bounds: readonly SortBound[];
  /** Default: with their bodies. */
  readonly withoutBodies?: boolean;
}

/**
 * The rows of a table, in the order of their keys' bytes. The file has each item as JSON: `SELECT item ->> '$.state.S' FROM tasks WHERE pk
 * = …`. Its body is the last column: SQLite reads the pages of a long row up to the last column that is asked for.
 */
export class TableRows {
  readonly keys: KeyNames;
  /** The attribute that has a column of its own. */
  readonly bodyAttribute: string | undefined;
  readonly #database: DatabaseSync;
  readonly #name: string;
  readonly #beginWrite: () => void;
  readonly #get: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  /** By their text: bounds differ in their values alone. */
  readonly #queries = new Map<string, StatementSync>();

  /** Makes the table unless it is there. */
  constructor(database: DatabaseSync, { table, beginWrite }: TableRowsOptions) {
    this.keys = { partition: table.partitionKey, sort: table.sortKey };
    this.bodyAttribute = table.bodyAttribute;
    this.#database = database;
    this.#beginWrite = beginWrite;
    this.#name = `"${table.name.replaceAll('"', '""')}"`;
    database.exec(
      `CREATE TABLE IF NOT EXISTS ${this.#name} (pk TEXT NOT NULL, sk TEXT NOT NULL, bytes INTEGER NOT NULL, item TEXT NOT NULL, body ANY, ` +
        'PRIMARY KEY (pk, sk)) STRICT, WITHOUT ROWID',
    );
    this.#addBodyColumn(table.name);
    this.#get = this.#prepare(`SELECT item, bytes, body FROM ${this.#name} WHERE pk = ? AND sk = ?`);
    this.#put = this.#prepare(
      `INSERT OR REPLACE INTO ${this.#name} (pk, sk, bytes, item, body) VALUES (?, ?, ?, ?, ?)`,
    );
    this.#delete = this.#prepare(`DELETE FROM ${this.#name} WHERE pk = ? AND sk = ?`);
  }

  /** The row of a key. */
  get({ partition, sort }: RowKey): Row | undefined {
    return toRow(this.#get.get(partition, sort));
  }

  /** Writes a row, replacing what is there. */
  put({ partition, sort }: RowKey, { text, body = null, bytes }: Row): void {
    this.#beginWrite();
    this.#put.run(partition, sort, bytes, text, body);
  }

  /** Deletes a row; deleting none is success. */
  delete({ partition, sort }: RowKey): void {
    this.#beginWrite();
    this.#delete.run(partition, sort);
  }

  /** Rows of a partition in the order of their sort keys. End the iteration before you write. */
  list({ partition, bounds, withoutBodies = false }: RowRange): Iterable<Row> {
    const conditions = bounds.map(({ comparator }) => ` AND sk ${comparator} ?`).join('');
    const columns = withoutBodies ? 'item, bytes' : 'item, bytes, body';
    const query = this.#query(`SELECT ${columns} FROM ${this.#name} WHERE pk = ?${conditions} ORDER BY sk`);
    return toRows(query.iterate(partition, ...bounds.map(({ value }) => value)));
  }

  /** All rows behind a key. */
  scan(after: RowKey | undefined): Iterable<Row> {
    const condition = after === undefined ? '' : ' WHERE (pk, sk) > (?, ?)';
    const query = this.#query(`SELECT item, bytes, body FROM ${this.#name}${condition} ORDER BY pk, sk`);
    return toRows(after === undefined ? query.iterate() : query.iterate(after.partition, after.sort));
  }

  /** Tables of earlier releases lack it: their items have their bodies inside. */
  #addBodyColumn(table: string): void {
    const columns = this.#database.prepare('SELECT name FROM pragma_table_info(?)').all(table);
    if (columns.some(({ name }) => name === 'body')) return;
    this.#database.exec(`ALTER TABLE ${this.#name} ADD COLUMN body ANY`);
  }

  #query(sql: string): StatementSync {
    const known = this.#queries.get(sql);
    if (known !== undefined) return known;
    const query = this.#prepare(sql);
    this.#queries.set(sql, query);
    return query;
  }

  /** Rows as lists: an object for each takes longer. */
  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}

function* toRows(results: Iterable<unknown>): Generator<Row, void, void> {
  for (const result of results) {
    const row = toRow(result);
    if (row !== undefined) yield row;
  }
}

function toRow(result: unknown): Row | undefined {
  if (result === undefined) return undefined;
  const [text, bytes, body] = result as readonly [string, number, (string | Uint8Array | null)?];
  return { text, bytes, body };
}

/** The tables there are. */
export interface OpenTables {
  /** The rows of a table. @throws AwsError ResourceNotFoundException */
  get(name: string | undefined): TableRows;
}
