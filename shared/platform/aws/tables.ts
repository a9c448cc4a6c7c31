/** A DynamoDB table: what CDK and the local runtime create. Keys are strings; there are no indexes. */
export interface Table {
  /** Name, prefixed when deployed. */
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  /** Attribute with the expiry in seconds since the epoch. Readers filter what is expired: deletion comes late or never. */
  readonly ttlAttribute: string;
}

/** Tasks: headers, payload chunks, spilled journal entries and the list of open tasks. */
export const tasksTable: Table = {
  name: 'tasks',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttlAttribute: 'expiresAt',
};

/** The cache: objects, rows of views, the directory of applications, and agents. Clusters can fill it anew. */
export const cacheTable: Table = {
  name: 'cache',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttlAttribute: 'expiresAt',
};

/** Accounts that were made by an API, and what became of them. Nothing else can bring them back. */
export const accountsTable: Table = {
  name: 'accounts',
  partitionKey: 'pk',
  sortKey: 'sk',
  ttlAttribute: 'expiresAt',
};

/** Every table. */
export const tables: readonly Table[] = [tasksTable, cacheTable, accountsTable];

/** Partition of the cache's table with the facts of accounts. Roles of functions without secrets are let read it, and no other. */
export const accountFactsPartition = 'ACCOUNT-FACTS';

/**
 * How partitions of the cache's table begin that hold what was looked up for accounts, in AWS and at their API servers. Roles of functions
 * that reach clusters are let read and write them.
 */
export const lookupPartitions = 'LOOKUP#';

/** Partition of the cache's table that says which accounts can be reached. Roles of functions that reach clusters are let write it. */
export const healthPartition = 'HEALTH';
