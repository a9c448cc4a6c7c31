/** The most requests a second of an account, for each of its `cacheThreads`. */
export const requestsPerSecond = 10;

/** Concurrent requests of an account, for each of its `cacheThreads`. */
export const requestsAtOnce = 8;

/** Repositories of an account. */
export const repositoriesMax = 10_000;

/** Tags of a repository. */
export const tagsMax = 50_000;

/** Pages of one list: a registry may return fewer items on a page than requested. */
export const pagesMax = 2_000;

/** Bytes of one answer: a page of names, a manifest or the configuration of an image. */
export const answerBytesMax = 4 * 2 ** 20;

/** Bytes of an answer of ECR: a page of images with dozens of tags each. */
export const ecrAnswerBytesMax = 8 * 2 ** 20;

/** Redirects that a request follows. */
export const redirectsMax = 5;

/** Tries of a request without an answer, or with a transient error. */
export const triesMax = 3;

/** Tries of a call that ECR throttles, or while ECR is unavailable: all callers in a region share its limits. */
export const ecrTriesMax = 5;

/** The longest `Retry-After` of a registry that is obeyed, milliseconds. */
export const retryAfterMaxMs = 30_000;

/** The most bytes of one image's cached labels, as JSON. */
export const labelBytesMax = 8 * 2 ** 10;
