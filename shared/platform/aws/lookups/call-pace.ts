import { toKeyText } from '#caching/aws/store/cache-keys.ts';
import { type Clock, clockErrorMsMax } from '#core/clock.ts';
import { type CallTurns, ServiceBusyError } from '../../ports/lookup.ts';
import { type Item, type ItemKey, type ItemTable, ItemUpdate } from '../table.ts';
import { lookupPartitions } from '../tables.ts';

/** Milliseconds between two calls, by all processes together, of one kind in one region of one AWS account. */
export const callPaceMs = 200;

/** Calls that may be made at once after a pause. */
export const callBurst = 10;

/** Milliseconds that a call waits for its turn at most. */
export const callTurnMsMax = 4_000;

/** Attempts to take a turn while others take it. */
const attemptsMax = 10;

const busy = 'other questions are asked first, for the service takes few a second';

const retentionSeconds = 24 * 3600;

interface CallPaceOptions {
  /** The table of the cache. */
  readonly table: ItemTable;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

/** Lets all processes together call a service no faster than it allows. One item for each kind of call says when the next turn is free. */
export class CallPace implements CallTurns {
  readonly #options: CallPaceOptions;

  constructor(options: CallPaceOptions) {
    this.#options = options;
  }

  /**
   * Waits for a turn. While the store is unavailable, every call has one.
   *
   * @param parts name the kind of call: service, region, AWS account.
   * @throws ServiceBusyError when there is none within four seconds: it takes none then.
   */
  async takeTurn(...parts: readonly string[]): Promise<void> {
    const key = { pk: `${lookupPartitions}${toKeyText('PACE', ...parts)}`, sk: 'PACE' };
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const waitMs = await this.#tryTurn(key).catch(ignoreAway);
      if (waitMs !== undefined) return this.#options.clock.sleep(waitMs);
    }
    throw new ServiceBusyError(busy);
  }

  /** Milliseconds until the turn that it took; undefined when others took it. */
  async #tryTurn(key: ItemKey): Promise<number | undefined> {
    const { table, clock } = this.#options;
    const known = await table.get(key);
    const now = clock.now();
    const nextAtMs = Number(known?.['nextAtMs'] ?? 0);
    const lastAtMs = now + callTurnMsMax + callBurst * callPaceMs;
    const expiresAt = Math.ceil(now / 1000) + retentionSeconds;
    // An item from a process with a wrong clock would keep all others from calling.
    if (known === undefined || nextAtMs <= now || nextAtMs > lastAtMs + clockErrorMsMax) {
      const next = { ...key, nextAtMs: now + callPaceMs, expiresAt };
      const isMine = known === undefined ? await table.putNew(next, 0) : await this.#putOver(next, known);
      return isMine ? 0 : undefined;
    }
    if (nextAtMs > lastAtMs) throw new ServiceBusyError(busy);
    const update = new ItemUpdate()
      .add('nextAtMs', callPaceMs)
      .set({ expiresAt })
      .require('nextAtMs', '>', now)
      .require('nextAtMs', '<=', lastAtMs);
    const taken = await table.update(key, update);
    return taken && Math.max(0, Number(taken['nextAtMs']) - (callBurst + 1) * callPaceMs - now);
  }

  #putOver(next: Item, known: Item): Promise<boolean> {
    return this.#options.table.putOver(next, 'nextAtMs', known['nextAtMs']);
  }
}

/** Without the store no pace is kept. */
function ignoreAway(error: unknown): number {
  if (error instanceof ServiceBusyError) throw error;
  return 0;
}
