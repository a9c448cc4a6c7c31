/** Whether calls of an account's platform are made: `half-open` when it has said that it is alive, and nobody has called it since. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** How an account is, as whoever calls its platform found out. */
export interface AccountHealth {
  /** `UP`: it answers. `DEGRADED`: the last call failed. `DOWN`: it is not called for now. */
  readonly state: 'UP' | 'DEGRADED' | 'DOWN';
  /** Why it is not up: a sentence without secrets, hosts or addresses. */
  readonly reason?: string | undefined;
  /** Since when it has been in this state, wall time in ms. */
  readonly sinceMs: number;
  /** When that was found out last, wall time in ms: up to {@link healthIntervalMs} before the last call. */
  readonly checkedAtMs: number;
  /** When it answered last, wall time in ms; undefined before its first answer. */
  readonly lastSuccessMs?: number | undefined;
  readonly breaker: BreakerState;
  /** What its platform refuses it that its settings ask for, though it answers: sentences without secrets. Undefined for nothing. */
  readonly warning?: string | undefined;
}

/** Where processes share how accounts are. */
export interface AccountHealthStore {
  /** How an account is; undefined when nobody knows. It may be a moment old. */
  find(account: string): Promise<AccountHealth | undefined>;
  /** How all accounts are of which anybody knows, by name. */
  list(): Promise<ReadonlyMap<string, AccountHealth>>;
  /** Replaces what is known of an account. */
  put(account: string, health: AccountHealth): Promise<void>;
}

/** What stays as it is, is written again after so long, in milliseconds. */
export const healthIntervalMs = 300_000;
