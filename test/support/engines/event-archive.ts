import type { BusEvent } from '#infra/local/engines/eventbridge/bus-events.ts';

/** An event that was put, in the order of its arrival. */
export interface ArchivedEvent {
  /** 1 for the first event of this process, then one more for each. */
  readonly sequence: number;
  readonly busName: string;
  readonly event: BusEvent;
}

/** The latest events, for people and tests: bounded in number, the oldest go first. */
export class EventArchive {
  readonly #limit: number;
  #events: ArchivedEvent[] = [];
  #sequence = 0;

  /** @param limit events that are kept at least; up to twice as many are */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(busName: string, event: BusEvent): void {
    this.#sequence += 1;
    this.#events.push({ sequence: this.#sequence, busName, event });
    if (this.#events.length > 2 * this.#limit) this.#events = this.#events.slice(-this.#limit);
  }

  /** Events after a sequence number, oldest first. */
  list(since: number): readonly ArchivedEvent[] {
    return this.#events.filter(({ sequence }) => sequence > since);
  }
}
