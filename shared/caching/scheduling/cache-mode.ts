const cacheModes = ['interval', 'stream'] as const;
const modeReasons = ['setting', 'default', 'unused', 'watches', 'changes', 'limit'] as const;

/** How a caching agent learns of changes: by runs, one after each interval, or by watching all the time. */
export type CacheMode = (typeof cacheModes)[number];

/** The setting of it. `automatic`: watches all the time, unless that is too much: see `chooseModes`. */
export type CacheModeSetting = CacheMode | 'automatic';

/**
 * Why a caching agent is in its mode: the account's settings say so (`setting`); it streams, as nothing speaks against it (`default`); its
 * account was neither read nor deployed to for an hour (`unused`); it needs more watches than a worker opens for one caching agent
 * (`watches`); too much changes (`changes`); the maximum of watched accounts is reached (`limit`).
 */
export type ModeReason = (typeof modeReasons)[number];

/** The mode of a caching agent. */
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
