/**
 * A module with work that may be done in a thread of its own. It is imported late and nowhere else, so that bundles keep it in a file of
 * its own, which a thread can begin with.
 */
export interface JobModule<Query, Result> {
  /** The module itself: its `import.meta.url`. */
  readonly location: string;
  /**
   * Does the work. Query and result are cloned on their way: the result is what was asked for, never all that was read.
   *
   * @throws errors of which the visible ones reach the caller as they are
   */
  run(query: Query): Promise<Result>;
}

/** Work that is done in a thread. */
export interface Job<Query, Result> {
  load(): Promise<JobModule<Query, Result>>;
  readonly query: Query;
  /** Memory of the query that is handed over: it is gone here then. Default: none. */
  readonly transfer?: readonly ArrayBuffer[];
  /** Name of the account: one job of each is done at a time. */
  readonly account: string;
  /** Name of the thing that is read, for the beginning of messages: `The index of charts.example.com`. */
  readonly what: string;
  readonly signal: AbortSignal;
}
