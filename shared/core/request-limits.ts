/**
 * What one request may hold. Each limit stands in docs/limits.md, where a test holds it against the constant. They are far above
 * what pipelines send, and low enough that no request takes all of a process's time or memory.
 */

/** Operations of one request. */
export const operationsMax = 1_000;

/** Manifests of all operations of one request, each `List` counted as its items. */
export const manifestsMax = 5_000;

/** Required and optional artifacts of all operations of one request together. */
export const artifactsMax = 5_000;

/** Items of any list within a description. */
export const listItemsMax = 5_000;

/** Members of a map of texts within a description: options of a delete. */
export const mapMembersMax = 1_000;

/** Load balancers (`services`) of one deploy. */
export const loadBalancersMax = 100;

/** Label selectors of one operation, and values of one selector. */
export const labelSelectorsMax = 100;

/** Accounts that one request creates, changes or deletes. */
export const accountListMax = 100;

/** Violations that an answer tells; of the others it tells how many there are. */
export const errorsToldMax = 100;

/** Characters of one violation; a longer one is cut off. */
export const errorTextMax = 2_000;

/** Levels of nesting in a body: definitions of custom resources, the deepest manifests, stay below 100. */
export const bodyLevelsMax = 500;

/** Values in a body: scalars, lists and objects. A manifest of a kilobyte has about 50. */
export const bodyValuesMax = 500_000;

/** Members of one object in a body: a ConfigMap of a megabyte, the most that Kubernetes keeps, has some hundred. */
export const bodyMembersMax = 10_000;

/** Names in a list of a query: applications, ids, clusters, types. */
export const queryNamesMax = 500;

/** Parameters of a query, repeated ones counted each time. */
export const queryParametersMax = 1_000;

/** Characters of one name of a path, decoded: Kubernetes' names have at most 253. */
export const pathNameMax = 1_024;

/** Characters of one value of a query. */
export const queryValueMax = 32_768;

/** Characters of a header that says who asks: user, application, ids of request and execution. */
export const callerHeaderMax = 1_024;

/** Characters of the header `Cache-Control`. */
export const cacheControlMax = 1_024;

/** Characters of the header `If-None-Match`: some ninety tags. */
export const ifNoneMatchMax = 4_096;

/** Characters of `If-Match`, by which a change names the revision of an account. */
export const ifMatchMax = 1_000;

/** Characters of the text that a search looks for. */
export const searchTextMax = 256;

/** Finds on one page of a search. */
export const searchPageSizeMax = 10_000;

/** Page of a search that can be asked for. */
export const searchPageMax = 1_000_000;

/** Rows of the cache of which one view may be made: a server group, a load balancer or a manager has one each. */
export const viewRowsMax = 100_000;

/** Applications whose accounts one view looks up at a time. */
export const viewConcurrency = 32;

/** Characters of the answer of a view, before it is compressed. */
export const viewAnswerMax = 64 << 20;

/** Characters of a client request id: Orca's has 64. */
export const clientRequestIdMax = 1_024;

/** Seconds after which a caller who was told 503 is asked to try again. */
export const retryAfterSeconds = 1;
