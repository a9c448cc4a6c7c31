/** An event for the bus. Its detail names things; it never holds a manifest, a description or an error's data. */
export interface BusEvent {
  readonly type: string;
  readonly atMs: number;
  readonly detail: { readonly [key: string]: unknown };
}

/** Publishes events. Delivery is at least once. */
export interface EventBus {
  /** Sends the events in order; rejects when the bus does not take them all after retries. */
  publish(events: readonly BusEvent[]): Promise<void>;
}
