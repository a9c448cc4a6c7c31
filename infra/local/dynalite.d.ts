declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** Options of dynalite 4 that are used here; times in milliseconds. */
  export interface DynaliteOptions {
    /** Folder of the LevelDB store; in memory when absent. */
    readonly path?: string;
    /** How long a new table stays in CREATING. */
    readonly createTableMs?: number;
    /** How long a table stays in UPDATING. */
    readonly updateTableMs?: number;
  }

  /** A DynamoDB server, not yet listening. Its `close` also closes the store. */
  export default function dynalite(options?: DynaliteOptions): Server;
}
