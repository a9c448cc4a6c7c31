import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type Clock, clockErrorMsMax } from '#core/clock.ts';

/**
 * Sends commands to DynamoDB. Not the SDK's document client: a client can cache what it resolved for a command, but that one resolves all
 * its steps again for each call, twice.
 */
export type StoreClient = Pick<DynamoDBClient, 'send'>;

/** An item as DynamoDB sends it. */
export type RawItem = { readonly [attribute: string]: AttributeValue };

/** An item's attributes. */
export type Item = { readonly [attribute: string]: unknown };

/** Primary key of an item in all our tables. */
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

  /** Sets attributes, and removes those whose value is undefined. */
  set(attributes: { readonly [name: string]: unknown }): this {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined) this.remove(name);
      else this.#set.push(`${this.#name(name)} = ${this.#value(value)}`);
    }
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

  /** Removes attributes. */
  remove(...attributes: readonly string[]): this {
    for (const attribute of attributes) this.#remove.push(this.#name(attribute));
    return this;
  }

  /** Requires that an attribute compare this way with a value. All requirements must hold. */
  require(attribute: string, comparison: '=' | '<=' | '>', value: unknown): this {
    this.#conditions.push(`${this.#name(attribute)} ${comparison} ${this.#value(value)}`);
    return this;
  }

  /** Requires that a number be a past time, or one further ahead than it can be: then a process with another clock wrote it. */
  requireDue(attribute: string, nowMs: number, mostMs: number): this {
    const name = this.#name(attribute);
    const [now, last] = [this.#value(nowMs), this.#value(nowMs + mostMs + clockErrorMsMax)];
    this.#conditions.push(`(${name} <= ${now} OR ${name} > ${last})`);
    return this;
  }

  /** Requires that an attribute have one of some values. @param orNone whether it may be missing instead */
  requireOneOf(attribute: string, values: readonly unknown[], orNone: boolean): this {
    const name = this.#name(attribute);
    const listed = `${name} IN (${values.map((value) => this.#value(value)).join(', ')})`;
    this.#conditions.push(orNone ? `(attribute_not_exists(${name}) OR ${listed})` : listed);
    return this;
  }

  /** Requires that this attribute be missing. */
  requireNone(attribute: string): this {
    this.#conditions.push(`attribute_not_exists(${this.#name(attribute)})`);
    return this;
  }

  /** The parameters of DynamoDB's UpdateItem. */
  toParameters(): {
    UpdateExpression: string;
    ConditionExpression?: string;
    ExpressionAttributeNames: Record<string, string>;
    ExpressionAttributeValues: Record<string, AttributeValue>;
  } {
    const clause = (word: string, parts: readonly string[]): string =>
      parts.length > 0 ? `${word} ${parts.join(', ')}` : '';
    const clauses = [clause('SET', this.#set), clause('ADD', this.#add), clause('REMOVE', this.#remove)];
    return {
      UpdateExpression: clauses.filter((text) => text !== '').join(' '),
      ...(this.#conditions.length > 0 && { ConditionExpression: this.#conditions.join(' AND ') }),
      ExpressionAttributeNames: this.#names,
      ExpressionAttributeValues: toRaw(this.#values),
    };
  }

  /** Every name uses a placeholder: many of ours are reserved words. */
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

/** A table, and the clock by which its items expire. */
export interface TimedTable {
  readonly table: ItemTable;
  readonly clock: Pick<Clock, 'now'>;
}

/** Single-item access to one DynamoDB table. Reads are consistent unless they say otherwise. */
export class ItemTable {
  readonly #client: StoreClient;
  readonly #tableName: string;

  constructor(client: StoreClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** Writes an item, replacing what is there. */
  async put(item: Item): Promise<void> {
    await this.#client.send(new PutItemCommand({ TableName: this.#tableName, Item: toRaw(item) }));
  }

  /** Writes an item unless a live one has its key; false when it has. `seconds` is the current time since the epoch. */
  async putNew(item: Item, seconds: number): Promise<boolean> {
    const command = new PutItemCommand({
      TableName: this.#tableName,
      Item: toRaw(item),
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :seconds',
      ExpressionAttributeValues: toRaw({ ':seconds': seconds }),
    });
    const answer = await unlessRefused(() => this.#client.send(command));
    return answer !== undefined;
  }

  /** The item after the update; undefined when a requirement was not met. @param signal aborts the call: it may have been made */
  async update(key: ItemKey, update: ItemUpdate, signal?: AbortSignal): Promise<Item | undefined> {
    const command = new UpdateItemCommand({
      TableName: this.#tableName,
      Key: toRaw({ ...key }),
      ReturnValues: 'ALL_NEW',
      ...update.toParameters(),
    });
    const answer = await unlessRefused(() =>
      signal ? this.#client.send(command, { abortSignal: signal }) : this.#client.send(command),
    );
    return answer?.Attributes && fromRaw(answer.Attributes);
  }

  /** Writes an item over one whose attribute has this value; false when it has another one, or is gone. */
  async putOver(item: Item, attribute: string, value: unknown): Promise<boolean> {
    const command = new PutItemCommand({
      TableName: this.#tableName,
      Item: toRaw(item),
      ConditionExpression: '#attribute = :value',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: toRaw({ ':value': value }),
    });
    const answer = await unlessRefused(() => this.#client.send(command));
    return answer !== undefined;
  }

  /** Writes an item unless one with its key has an equal or greater number; false when it has. */
  async putGreater(item: Item, attribute: string, value: number): Promise<boolean> {
    const command = new PutItemCommand({
      TableName: this.#tableName,
      Item: toRaw(item),
      ConditionExpression: 'attribute_not_exists(pk) OR #attribute < :value',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: toRaw({ ':value': value }),
    });
    const answer = await unlessRefused(() => this.#client.send(command));
    return answer !== undefined;
  }

  /** Deletes an item unless its number is greater; succeeds where there is none. */
  async deleteUpTo(key: ItemKey, attribute: string, value: number): Promise<void> {
    const command = new DeleteItemCommand({
      TableName: this.#tableName,
      Key: toRaw({ ...key }),
      ConditionExpression: 'attribute_not_exists(pk) OR #attribute <= :value',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: toRaw({ ':value': value }),
    });
    await unlessRefused(() => this.#client.send(command));
  }

  /** The item; undefined if there is none. @param consistent false for half the price, perhaps as of a moment ago; default true */
  async get(key: ItemKey, { consistent = true } = {}): Promise<Item | undefined> {
    const get = { TableName: this.#tableName, Key: toRaw({ ...key }), ConsistentRead: consistent };
    const { Item: found } = await this.#client.send(new GetItemCommand(get));
    return found && fromRaw(found);
  }

  /** All items of a partition in the order of their sort keys, at most `limit`, and only those after `after`. */
  async query(pk: string, limit = Number.POSITIVE_INFINITY, after?: string): Promise<Item[]> {
    const items: Item[] = [];
    let start: Record<string, AttributeValue> | undefined;
    do {
      const page = await this.#client.send(
        new QueryCommand({
          TableName: this.#tableName,
          KeyConditionExpression: after === undefined ? 'pk = :pk' : 'pk = :pk AND sk > :after',
          ExpressionAttributeValues: toRaw({ ':pk': pk, ':after': after }),
          ConsistentRead: true,
          ...(Number.isFinite(limit) && { Limit: limit - items.length }),
          ...(start && { ExclusiveStartKey: start }),
        }),
      );
      items.push(...(page.Items ?? []).map(fromRaw));
      start = page.LastEvaluatedKey;
    } while (start !== undefined && items.length < limit);
    return items;
  }

  /** Deletes an item; succeeds where there is none. */
  async delete(key: ItemKey): Promise<void> {
    await this.#client.send(new DeleteItemCommand({ TableName: this.#tableName, Key: toRaw({ ...key }) }));
  }
}

/** Attributes in DynamoDB's form, without those that are undefined. */
export function toRaw(attributes: Item): Record<string, AttributeValue> {
  return marshall(attributes, { removeUndefinedValues: true });
}

/** The attributes of an item that DynamoDB sent. Most are texts, for which the SDK's decoder takes longer than all else that a list does. */
export function fromRaw(item: RawItem): Item {
  const attributes: { [name: string]: unknown } = {};
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) attributes[name] = value.S ?? unmarshall({ value })['value'];
  }
  return attributes;
}

async function unlessRefused<T>(send: () => Promise<T>): Promise<T | undefined> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}
