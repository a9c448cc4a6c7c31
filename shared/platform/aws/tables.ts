/** A DynamoDB table, created by CDK and the local runtime. Keys are strings; there are no indexes. */
export interface Table {
  /** Name, prefixed when deployed. */
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  /** Attribute with the expiry in seconds since the epoch. Readers skip expired items: deletion comes late or never. */
  readonly ttlAttribute: string;
  /** Attribute, a text or bytes, that is most of an item and that most readers leave out. Default: there is none. */
  readonly bodyAttribute?: string;
  /**
   * Whether all of it is a copy of what can be read elsewhere again: the embedded store answers writes before they are on the disk. Default:
   * false.
   */
  readonly isCopy?: boolean;
}

/** Tasks: headers, payload chunks, spilled journal entries and the list of open tasks. */
export const tasksTable: Table = {
  name: 'tasks',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttlAttribute: 'expiresAt',
};

/** The cache: objects, rows of views, the directory of applications, and caching agents. It can be filled again from the clusters. */
export const cacheTable: Table = {
  name: 'cache',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttlAttribute: 'expiresAt',
  bodyAttribute: 'body',
  isCopy: true,
};

/** Accounts created by an API, and their history. They exist nowhere else. */
export const accountsTable: Table = {
  name: 'accounts',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttlAttribute: 'expiresAt',
};

/** Every table. */
export const tables: readonly Table[] = [tasksTable, cacheTable, accountsTable];

/** Partition of the cache's table with account facts. Roles of functions without secrets may read this one only. */
export const accountFactsPartition = 'ACCOUNT-FACTS';

/** Prefix of the cache table's partitions with lookups for accounts, for the roles of functions that reach clusters. */
export const lookupPartitions = 'LOOKUP#';

/** Partition of the cache's table with the health of accounts. Roles of functions that reach clusters may write it. */
export const healthPartition = 'HEALTH';
