/** Whether an account's platform is called: `half-open` when a probe found it alive, and it has not been called since. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** The health of an account, as calls to its platform found it. */
export interface AccountHealth {
  /** `UP`: it answers. `DEGRADED`: the last call failed. `DOWN`: it is not called for now. */
  readonly state: 'UP' | 'DEGRADED' | 'DOWN';
  /** Why it is not up: a sentence without secrets, hosts or addresses. */
  readonly reason?: string | undefined;
  /** Since when it has been in this state, wall time in ms. */
  readonly sinceMs: number;
  /** When that was last found, wall time in ms: up to {@link healthIntervalMs} before the last call. */
  readonly checkedAtMs: number;
  /** When it last answered, wall time in ms; undefined before its first answer. */
  readonly lastSuccessMs?: number | undefined;
  readonly breaker: BreakerState;
  /** What its platform refuses although its settings ask for it, while it answers: sentences without secrets. Undefined for nothing. */
  readonly warning?: string | undefined;
}

/** Where processes share the health of accounts. */
export interface AccountHealthStore {
  /** The health of an account; undefined when unknown. It may be a moment old. */
  find(account: string): Promise<AccountHealth | undefined>;
  /** The health of all accounts of which it is known, by name. */
  list(): Promise<ReadonlyMap<string, AccountHealth>>;
  /** Replaces what is known of an account. */
  put(account: string, health: AccountHealth): Promise<void>;
}

/** Milliseconds after which unchanged health is written again. */
export const healthIntervalMs = 300_000;
