import type { JsonBounds } from '#core/bounded-json.ts';

/*
 * What the answers of one account's API server may cost. All sizes are bytes. A cluster that needs more than a limit gets an error
 * that names the account and the limit; other accounts notice nothing. docs/kubernetes.md has them in one table.
 */

const mebibyte = 2 ** 20;

/**
 * Of an answer that is one object, decompressed. API servers take no write above 3 MiB and etcd stores no more than 1.5 MB unless
 * told otherwise; 1 MiB of a ConfigMap becomes 6 MiB of JSON when all of it is `<`, which Kubernetes writes as `\u003c`.
 */
export const objectBytesMax = 8 * mebibyte;

/**
 * Of a page of a list and of a discovery document, decompressed: 500 objects of 32 KB. Larger ones come in smaller pages; see
 * `pageSizeMax`. It also bounds how long JSON may keep the process from other work:
 * about 0.1 s, and 1 s if each of its values is an integer beyond 2^53.
 */
export const pageBytesMax = 16 * mebibyte;

/**
 * Of a compressed answer as it comes over the wire. Kubernetes' JSON shrinks to a tenth, so that only an answer that is no JSON
 * reaches this before it reaches `pageBytesMax`.
 */
export const wireBytesMax = 16 * mebibyte;

/**
 * Of the log of a container, for consoles and properties: the API server is asked for so much. Kubelets turn to the next file
 * at 10 MiB by default, and answer from one file only.
 */
export const logBytesMax = 16 * mebibyte;

/** Of the logs of all containers of a pod together, which a console shows. */
export const consoleBytesMax = 2 * logBytesMax;

/** Containers of a pod whose logs a console shows: Kubernetes bounds their number by the size of a pod alone. */
export const consoleContainersMax = 100;

/** Of an answer as text, such as a log: a server that was asked for `logBytesMax` answers no more than a little above it. */
export const textBytesMax = logBytesMax + 64 * 1024;

/**
 * Of an answer that is no success; the rest of it is not waited for. A Status tells each violation twice, and a violation of an
 * immutable template quotes the template.
 */
export const errorBytesMax = 128 * 1024;

/** Of the status line and the headers of an answer, and of a proxy's to CONNECT; Node's own default. */
export const headerBytesMax = 16 * 1024;

/** Of one event of a watch: an object, and the few words around it. */
export const watchLineBytesMax = objectBytesMax + 64 * 1024;

/** Of a discovery document of one group version, which servers before Kubernetes 1.26 are asked for. */
export const discoveryVersionBytesMax = 2 * mebibyte;

/** Group versions that such servers are asked for; each is a request. Clusters with a hundred operators have about 150. */
export const discoveryVersionsMax = 400;

/** Resources that all discovery documents of a cluster may tell of. Clusters with a hundred operators have about 3,000. */
export const discoveryResourcesMax = 50_000;

/**
 * Nesting and number of values of any JSON that a server answers, watches and annotations included. Kubernetes' own types reach
 * about 20 levels, OpenAPI schemas in CustomResourceDefinitions about 60, and a request body may have 500. A page of 500
 * Pods has about 400,000 values; each takes up to 90 bytes of memory.
 */
export const answerJsonBounds: JsonBounds = { depthMax: 512, valuesMax: 750_000 };

/** Objects that are asked for with a page of a list, as kubectl and Clouddriver do. */
export const pageSizeMax = 500;

/**
 * Objects of one page. Servers of aggregated APIs, such as the metrics server, know no pages and answer all at once: one object
 * for each Pod of the largest cluster that Kubernetes supports would still do without a second thought for its Nodes (5,000).
 */
export const pageItemsMax = 20_000;

/** Objects of a whole list. Kubernetes supports 150,000 Pods a cluster. */
export const listItemsMax = 400_000;

/**
 * How long a list that is read page by page may take, milliseconds, the handling of its pages included. An API server keeps the
 * snapshot that the pages show for about five minutes.
 */
export const listDurationMsMax = 300_000;

/** How long a list may take that a request or an operation waits for, milliseconds: twice the default of a single request. */
export const gatheredListDurationMsMax = 60_000;

/** Of one list that is gathered whole in memory, as JSON: 16,000 objects of 2 KB, which is metadata with its managed fields. */
export const gatheredListBytesMax = 32 * mebibyte;

/** Of all lists being gathered in this process, as JSON. Beyond it the account that has most of it loses its largest list. */
export const gatheredBytesMax = 64 * mebibyte;

/** Of an answer that is read without a place in `AnswerMemory`: an object, a page of few objects, most of what is asked for. */
export const freeAnswerBytes = 64 * 1024;

/** Answers above `freeAnswerBytes` that are read and parsed at a time in this process; further ones wait, and their servers do. */
export const largeAnswersMax = 4;

/** Of these, answers to one account: one account leaves room to others. */
export const largeAnswersOfAccountMax = 2;

/** While others wait for room, an answer that has been coming for so long loses its place, milliseconds. */
export const largeAnswerMs = 2_000;

/** An answer that has begun must bring `stallBytes` in each such time, milliseconds. */
export const stallMs = 10_000;

/** See `stallMs`: half a kilobyte a second, which no network that API servers are operated over falls below. */
export const stallBytes = 5_000;

/** Of a kubeconfig, and of each file that one names. One with 300 clusters and their certificates has half of it. */
export const kubeconfigBytesMax = mebibyte;

/** Lines, and characters with a meaning in YAML, of a kubeconfig that is no JSON. One with 300 clusters has about 15,000. */
export const kubeconfigMarksMax = 40_000;

/** A server's answer goes beyond one of the limits above. The message says which, without a subject: `has more than …`. */
export class AnswerLimitError extends Error {
  override name = 'AnswerLimitError';
  /** True when asking for fewer objects may bring an answer within the limit. */
  readonly isOfSize: boolean;

  constructor(message: string, isOfSize: boolean) {
    super(message);
    this.isOfSize = isOfSize;
  }
}
