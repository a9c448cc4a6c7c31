import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';

/** An item's attributes. */
export type Item = { readonly [attribute: string]: unknown };

/** Primary key of an item in every table of ours. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** One conditional update, collected piece by piece. */
export class ItemUpdate {
  readonly #set: string[] = [];
  readonly #add: string[] = [];
  readonly #remove: string[] = [];
  readonly #conditions: string[] = [];
  readonly #names: Record<string, string> = {};
  readonly #values: Record<string, unknown> = {};

  /** Sets an attribute. */
  set(attribute: string, value: unknown): this {
    this.#set.push(`${this.#name(attribute)} = ${this.#value(value)}`);
    return this;
  }

  /** Adds to a number. */
  add(attribute: string, value: number): this {
    this.#add.push(`${this.#name(attribute)} ${this.#value(value)}`);
    return this;
  }

  /** Appends to a list. */
  append(attribute: string, values: readonly unknown[]): this {
    const name = this.#name(attribute);
    this.#set.push(`${name} = list_append(${name}, ${this.#value(values)})`);
    return this;
  }

  /** Sets an attribute, or removes it when the value is undefined. */
  put(attribute: string, value: unknown): this {
    return value === undefined ? this.remove(attribute) : this.set(attribute, value);
  }

  /** Removes an attribute. */
  remove(attribute: string): this {
    this.#remove.push(this.#name(attribute));
    return this;
  }

  /** Demands that an attribute compare so with a value. All demands must hold. */
  require(attribute: string, comparison: '=' | '<=' | '>', value: unknown): this {
    this.#conditions.push(`${this.#name(attribute)} ${comparison} ${this.#value(value)}`);
    return this;
  }

  /** The parameters of DynamoDB's UpdateItem. */
  toParameters(): {
    UpdateExpression: string;
    ConditionExpression: string;
    ExpressionAttributeNames: Record<string, string>;
    ExpressionAttributeValues: Record<string, unknown>;
  } {
    const clause = (word: string, parts: readonly string[]): string =>
      parts.length > 0 ? `${word} ${parts.join(', ')}` : '';
    const clauses = [clause('SET', this.#set), clause('ADD', this.#add), clause('REMOVE', this.#remove)];
    return {
      UpdateExpression: clauses.filter((text) => text !== '').join(' '),
      ConditionExpression: this.#conditions.join(' AND '),
      ExpressionAttributeNames: this.#names,
      ExpressionAttributeValues: this.#values,
    };
  }

  /** Every name goes through a placeholder: many of ours are reserved words. */
  #name(attribute: string): string {
    this.#names[`#${attribute}`] = attribute;
    return `#${attribute}`;
  }

  #value(value: unknown): string {
    const placeholder = `:v${Object.keys(this.#values).length}`;
    this.#values[placeholder] = value;
    return placeholder;
  }
}

/** Single-item access to one DynamoDB table. Reads are consistent unless they say otherwise. */
export class ItemTable {
  readonly #documents: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(documents: DynamoDBDocumentClient, tableName: string) {
    this.#documents = documents;
    this.#tableName = tableName;
  }

  /** Writes an item, replacing what is there. */
  async put(item: Item): Promise<void> {
    await this.#documents.send(new PutCommand({ TableName: this.#tableName, Item: item }));
  }

  /** Writes an item unless a live one has its key; false when it has. `seconds` is the time now, since the epoch. */
  async putNew(item: Item, seconds: number): Promise<boolean> {
    const command = new PutCommand({
      TableName: this.#tableName,
      Item: item,
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :seconds',
      ExpressionAttributeValues: { ':seconds': seconds },
    });
    const answer = await unlessRefused(() => this.#documents.send(command));
    return answer !== undefined;
  }

  /**
   * The item after the update, or undefined when a demand of it was not met.
   *
   * @param signal gives the call up, with its repeats. Whether the update was made is then unknown.
   */
  async update(key: ItemKey, update: ItemUpdate, signal?: AbortSignal): Promise<Item | undefined> {
    const command = new UpdateCommand({
      TableName: this.#tableName,
      Key: key,
      ReturnValues: 'ALL_NEW',
      ...update.toParameters(),
    });
    const answer = await unlessRefused(() =>
      this.#documents.send(command, { ...(signal && { abortSignal: signal }) }),
    );
    return answer?.Attributes;
  }

  /** Writes an item over one whose attribute has this value; false when it has another one, or is gone. */
  async putOver(item: Item, attribute: string, value: unknown): Promise<boolean> {
    const command = new PutCommand({
      TableName: this.#tableName,
      Item: item,
      ConditionExpression: '#attribute = :value',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: { ':value': value },
    });
    const answer = await unlessRefused(() => this.#documents.send(command));
    return answer !== undefined;
  }

  /** The item, or undefined. @param consistent false for half the price, and perhaps what was there a moment ago; default true */
  async get(key: ItemKey, { consistent = true } = {}): Promise<Item | undefined> {
    const get = new GetCommand({ TableName: this.#tableName, Key: key, ConsistentRead: consistent });
    return (await this.#documents.send(get)).Item;
  }

  /** All items of a partition in the order of their sort keys, at most `limit`, and only those behind `after`. */
  async query(pk: string, limit = Number.POSITIVE_INFINITY, after?: string): Promise<Item[]> {
    const items: Item[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const page = await this.#documents.send(
        new QueryCommand({
          TableName: this.#tableName,
          KeyConditionExpression: after === undefined ? 'pk = :pk' : 'pk = :pk AND sk > :after',
          ExpressionAttributeValues: { ':pk': pk, ...(after !== undefined && { ':after': after }) },
          ConsistentRead: true,
          ...(Number.isFinite(limit) && { Limit: limit - items.length }),
          ...(start && { ExclusiveStartKey: start }),
        }),
      );
      items.push(...(page.Items ?? []));
      start = page.LastEvaluatedKey;
    } while (start !== undefined && items.length < limit);
    return items;
  }

  /** Deletes an item; deleting none is success. */
  async delete(key: ItemKey): Promise<void> {
    await this.#documents.send(new DeleteCommand({ TableName: this.#tableName, Key: key }));
  }
}

async function unlessRefused<T>(send: () => Promise<T>): Promise<T | undefined> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}
