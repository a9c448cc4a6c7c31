/** Requests a second that an account makes at most for each of its `cacheThreads`. */
export const requestsPerSecond = 10;

/** Requests of an account under way at a time for each of its `cacheThreads`. */
export const requestsAtOnce = 8;

/** Repositories of an account. */
export const repositoriesMax = 10_000;

/** Tags of a repository. */
export const tagsMax = 50_000;

/** Pages of one list: a registry may answer less on a page than it is asked for. */
export const pagesMax = 2_000;

/** Bytes of one answer: a page of names, a manifest or the configuration of an image. */
export const answerBytesMax = 4 * 2 ** 20;

/** Redirects that a request follows. */
export const redirectsMax = 5;

/** Tries of a request that got no answer, or one that a moment may mend. */
export const triesMax = 3;

/** Tries of a call of ECR that is throttled, or finds it away: all that call it in a region share its limits. */
export const ecrTriesMax = 5;

/** Milliseconds that a registry may have an account wait by `Retry-After`. */
export const retryAfterMaxMs = 30_000;

/** Bytes of all labels that are cached of one image, as JSON. */
export const labelBytesMax = 8 * 2 ** 10;
