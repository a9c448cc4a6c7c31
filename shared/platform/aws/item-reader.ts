import { isRevision, type Revision } from '#caching/store/revision.ts';
import { parseJson } from '#core/json.ts';
import type { Item } from './table.ts';
import { accountsTable, cacheTable, type Table, tasksTable } from './tables.ts';

/** The form of items without the attribute `form`. */
const firstForm = 1;

/** An item is not as this release writes it: something else changed it. The message names table, key and attribute, never a value. */
export class MalformedItemError extends Error {
  override name = 'MalformedItemError';
}

/**
 * Reads attributes of the items of a table with their types. It copies nothing, so that reading an attribute costs no more than a look-up.
 *
 * Each method throws a MalformedItemError for anything else; those named `find` return undefined where there is none. `pk` is the
 * partition, for the error, of an item read without its key.
 */
export class ItemReader {
  readonly #table: Pick<Table, 'name'>;

  constructor(table: Pick<Table, 'name'>) {
    this.#table = table;
  }

  /**
   * Checks that an item has the form that this release reads. The first form is not written: an item without the attribute `form` has it.
   * When you change the meaning of an item, write the next number into it, and read both or leave the old one unreadable.
   */
  checkForm(item: Item, pk?: string): void {
    const { form = firstForm } = item;
    if (form !== firstForm)
      this.fail(item, { attribute: 'form', expected: `${firstForm}, since this release knows no other`, pk });
  }

  /** A text. */
  getText(item: Item, attribute: string, pk?: string): string {
    const value = item[attribute];
    return typeof value === 'string' ? value : this.fail(item, { attribute, expected: 'a text', pk });
  }

  /** A text that may be missing. */
  findText(item: Item, attribute: string, pk?: string): string | undefined {
    return item[attribute] === undefined ? undefined : this.getText(item, attribute, pk);
  }

  /** A number. */
  getNumber(item: Item, attribute: string, pk?: string): number {
    const value = item[attribute];
    return typeof value === 'number' ? value : this.fail(item, { attribute, expected: 'a number', pk });
  }

  /** A number that may be missing. */
  findNumber(item: Item, attribute: string, pk?: string): number | undefined {
    return item[attribute] === undefined ? undefined : this.getNumber(item, attribute, pk);
  }

  /** A boolean that may be missing. */
  findBoolean(item: Item, attribute: string): boolean | undefined {
    const value = item[attribute];
    if (value === undefined || typeof value === 'boolean') return value;
    return this.fail(item, { attribute, expected: 'true or false' });
  }

  /** Bytes. */
  getBytes(item: Item, attribute: string): Uint8Array {
    const value = item[attribute];
    return value instanceof Uint8Array ? value : this.fail(item, { attribute, expected: 'bytes' });
  }

  /** A text, or bytes. */
  getTextOrBytes(item: Item, attribute: string, pk?: string): string | Uint8Array {
    const value = item[attribute];
    if (typeof value === 'string' || value instanceof Uint8Array) return value;
    return this.fail(item, { attribute, expected: 'a text or bytes', pk });
  }

  /** A revision of the cache. */
  getRevision(item: Item, attribute: string, pk?: string): Revision {
    const value = item[attribute];
    return isRevision(value) ? value : this.fail(item, { attribute, expected: 'a revision', pk });
  }

  /** A list of texts. */
  getTexts(item: Item, attribute: string, pk?: string): readonly string[] {
    const value = item[attribute];
    return isTexts(value) ? value : this.fail(item, { attribute, expected: 'a list of texts', pk });
  }

  /** A list of texts that may be missing. */
  findTexts(item: Item, attribute: string, pk?: string): readonly string[] | undefined {
    return item[attribute] === undefined ? undefined : this.getTexts(item, attribute, pk);
  }

  /** A map that may be missing: read its members like those of an item, in the partition that `describeMap` returns. */
  findMap(item: Item, attribute: string): Item | undefined {
    const value = item[attribute];
    if (value === undefined || isMap(value)) return value;
    return this.fail(item, { attribute, expected: 'a map' });
  }

  /** The place of an item's map, for the errors of its members. */
  describeMap(item: Item, attribute: string): string {
    return `${describeKey(item)}: attribute ${attribute}`;
  }

  /** The value of an attribute with JSON. @param isOne whether the JSON is valid */
  getJson<T>(item: Item, attribute: string, isOne: (value: unknown) => value is T): T {
    const value = parseJson(this.getText(item, attribute));
    return isOne(value) ? value : this.fail(item, { attribute, expected: 'the JSON that was written' });
  }

  /** The same for an attribute that may be missing. */
  findJson<T>(item: Item, attribute: string, isOne: (value: unknown) => value is T): T | undefined {
    return item[attribute] === undefined ? undefined : this.getJson(item, attribute, isOne);
  }

  /** @throws MalformedItemError */
  fail(item: Item, { attribute, expected, pk }: Malformed): never {
    const where = describeKey(item, pk);
    throw new MalformedItemError(
      `table ${this.#table.name}: item ${where}: attribute ${attribute}: expected ${expected}`,
    );
  }
}

/** What is wrong with an item. */
export interface Malformed {
  readonly attribute: string;
  /** What was expected: `a text`. */
  readonly expected: string;
  /** Partition of an item that was read without its key. */
  readonly pk?: string | undefined;
}

/** Reads items of the table of tasks. */
export const taskReader = new ItemReader(tasksTable);

/** Reads items of the table of accounts. */
export const accountReader = new ItemReader(accountsTable);

/** Reads items of the cache's table. */
export const cacheReader = new ItemReader(cacheTable);

/** The parsed item; undefined for one that is not as this release writes it. */
export function unlessMalformed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof MalformedItemError)) throw error;
    return undefined;
  }
}

function describeKey({ pk, sk }: Item, partition?: string): string {
  return [pk ?? partition, sk].filter((part) => typeof part === 'string').join(' ');
}

/** Whether a value is a list of texts. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isMap(value: unknown): value is Item {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && !Array.isArray(value) && !(value instanceof Uint8Array) && !(value instanceof Set);
}
