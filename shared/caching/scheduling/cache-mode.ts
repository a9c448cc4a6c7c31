const cacheModes = ['interval', 'stream'] as const;
const modeReasons = ['setting', 'default', 'unused', 'watches', 'changes', 'limit'] as const;

/** How an agent learns of changes: by runs, one after each interval, or all the time. */
export type CacheMode = (typeof cacheModes)[number];

/** What settings say of it. `automatic`: all the time, unless that is too much: see `chooseModes`. */
export type CacheModeSetting = CacheMode | 'automatic';

/**
 * Why an agent is in its mode: the account's settings say so (`setting`); it streams since nothing speaks against it (`default`); its account
 * was neither read nor deployed to for an hour (`unused`); it needs more watches than a worker opens for one agent (`watches`); too
 * much changes (`changes`); as many accounts as may be watched are (`limit`).
 */
export type ModeReason = (typeof modeReasons)[number];

/** The mode that an agent is in. */
export interface CachingAgentMode {
  readonly mode: CacheMode;
  readonly reason: ModeReason;
  /** Since when it is in this mode, wall time in milliseconds. */
  readonly sinceMs: number;
}

/** Whether a text names a mode. */
export function isCacheMode(text: unknown): text is CacheMode {
  return cacheModes.some((mode) => mode === text);
}

/** Whether a text names a reason for a mode. */
export function isModeReason(text: unknown): text is ModeReason {
  return modeReasons.some((reason) => reason === text);
}
