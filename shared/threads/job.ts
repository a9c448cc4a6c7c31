/** A module with work for a thread. Import it only late: bundles then keep it in a file of its own, which a thread starts with. */
export interface JobModule<Query, Result> {
  /** The module itself: its `import.meta.url`. */
  readonly location: string;
  /**
   * Does the work. Query and result are cloned between threads: return only what was asked for, never all that was read.
   *
   * @throws errors; visible ones reach the caller unchanged
   */
  run(query: Query): Promise<Result>;
}

/** Work in a thread. */
export interface Job<Query, Result> {
  load(): Promise<JobModule<Query, Result>>;
  readonly query: Query;
  /** Memory of the query that is transferred: it is gone in this thread then. Default: none. */
  readonly transfer?: readonly ArrayBuffer[];
  /** Name of the account: one job of each runs at a time. */
  readonly account: string;
  /** Name of what is read, as prefix of messages: `The index of charts.example.com`. */
  readonly what: string;
  readonly signal: AbortSignal;
}
