import type { Clock } from '#core/clock.ts';
import type { CacheModel } from '../writer/cache-model.ts';
import type { ObjectChange } from '../writer/object-change.ts';

/** Once this many changes, or characters of their facts, wait to be sent, watches are not read any further. */
export const outboxMax = { changes: 20_000, characters: 32 * 2 ** 20 } as const;

/** How long a change waits for others, milliseconds: usually, and while few changes come. */
const delaysMs = { usual: 250, quiet: 50 } as const;
const busy = { changes: 10, withinMs: 60_000 } as const;

/** Characters of a change besides its facts. */
const overhead = 200;

/** Counts what waits to be sent to a remote writer, and says how long to gather changes first. */
export class Outbox<Facts> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #model: Pick<CacheModel<Facts>, 'encode'>;
  /** When the last ten changes came. */
  readonly #times: number[] = [];
  #changes = 0;
  #characters = 0;

  constructor(clock: Pick<Clock, 'monotonic'>, model: Pick<CacheModel<Facts>, 'encode'>) {
    this.#clock = clock;
    this.#model = model;
  }

  /** Whether nothing more should be added before something is sent. */
  get isFull(): boolean {
    return this.#changes >= outboxMax.changes || this.#characters >= outboxMax.characters;
  }

  /** Milliseconds for which to gather changes. */
  get delayMs(): number {
    const [tenth = Number.NEGATIVE_INFINITY] = this.#times.length < busy.changes ? [] : this.#times;
    return this.#clock.monotonic() - tenth < busy.withinMs ? delaysMs.usual : delaysMs.quiet;
  }

  /** Counts changes until they are written. @throws what `write` throws */
  async hold(changes: readonly ObjectChange<Facts>[], write: () => Promise<void>): Promise<void> {
    const characters = changes.reduce(
      (sum, { facts }) => sum + overhead + (facts === undefined ? 0 : this.#model.encode(facts).length),
      0,
    );
    this.#changes += changes.length;
    this.#characters += characters;
    const nowMs = this.#clock.monotonic();
    for (const _ of changes.slice(0, busy.changes)) this.#times.push(nowMs);
    this.#times.splice(0, this.#times.length - busy.changes);
    try {
      await write();
    } finally {
      this.#changes -= changes.length;
      this.#characters -= characters;
    }
  }
}
