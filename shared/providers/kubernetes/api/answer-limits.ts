import type { JsonBounds } from '#core/bounded-json.ts';

/*
 * Limits on the answers of one account's API server. All sizes are bytes. A cluster that exceeds a limit gets an error that names the
 * account and the limit; other accounts are not affected. docs/kubernetes.md lists them in one table.
 */

const mebibyte = 2 ** 20;

/**
 * Of an answer with one object, decompressed. By default API servers accept no write above 3 MiB and etcd stores no more than 1.5 MB; 1 MiB
 * of a ConfigMap becomes 6 MiB of JSON if all of it is `<`, which Kubernetes writes as `\u003c`.
 */
export const objectBytesMax = 8 * mebibyte;

/**
 * Of a page of a list and of a discovery document, decompressed: 500 objects of 32 KB. Larger objects come in smaller pages; see
 * `pageSizeMax`. It also bounds how long parsing JSON may block the process: about 0.1 s, or 1 s if each value is an integer beyond 2^53.
 */
export const pageBytesMax = 16 * mebibyte;

/**
 * Of a compressed answer on the wire. Kubernetes' JSON shrinks to a tenth, so only an answer that is not JSON reaches this before
 * `pageBytesMax`.
 */
export const wireBytesMax = 16 * mebibyte;

/**
 * Of the log of a container, for consoles and properties: requested from the API server. By default kubelets start a new file at 10 MiB,
 * and answer from one file only.
 */
export const logBytesMax = 16 * mebibyte;

/** Of the logs of all containers of a pod together, which a console shows. */
export const consoleBytesMax = 2 * logBytesMax;

/** Containers of a pod whose logs a console shows: Kubernetes limits their number only by the size of a pod. */
export const consoleContainersMax = 100;

/** Of an answer as text, such as a log: a request for `logBytesMax` returns only slightly more than that. */
export const textBytesMax = logBytesMax + 64 * 1024;

/**
 * Of an unsuccessful answer; the rest is not awaited. A Status names each violation twice, and a violation of an immutable template quotes
 * the template.
 */
export const errorBytesMax = 128 * 1024;

/** Of the status line and the headers of an answer, and of a proxy's to CONNECT; Node's own default. */
export const headerBytesMax = 16 * 1024;

/** Of one event of a watch: an object, and a little text around it. */
export const watchLineBytesMax = objectBytesMax + 64 * 1024;

/** Of a discovery document of one group version, requested only from servers before Kubernetes 1.26. */
export const discoveryVersionBytesMax = 2 * mebibyte;

/** Group versions requested from such servers, one request each. Clusters with a hundred operators have about 150. */
export const discoveryVersionsMax = 400;

/** Resources that all discovery documents of a cluster may list. Clusters with a hundred operators have about 3,000. */
export const discoveryResourcesMax = 50_000;

/**
 * Nesting and number of values of any JSON from a server, including watches and annotations. Kubernetes' own types reach about 20 levels,
 * OpenAPI schemas in CustomResourceDefinitions about 60, and a request body may have 500. A page of 500 Pods has about 400,000 values; each
 * takes up to 90 bytes of memory.
 */
export const answerJsonBounds: JsonBounds = { depthMax: 512, valuesMax: 750_000 };

/** Objects requested per page of a list, as in kubectl and Clouddriver. */
export const pageSizeMax = 500;

/**
 * Objects of one page. Servers of aggregated APIs, such as the metrics server, have no pages and return everything at once: enough for an
 * object per Node of the largest cluster that Kubernetes supports (5,000).
 */
export const pageItemsMax = 20_000;

/** Objects of a whole list. Kubernetes supports 150,000 Pods a cluster. */
export const listItemsMax = 400_000;

/**
 * How long a list that is read page by page may take, milliseconds, including the processing of its pages. An API server keeps the pages'
 * snapshot for about five minutes.
 */
export const listDurationMsMax = 300_000;

/** How long a list may take for which a request or an operation waits, milliseconds: twice the default of a single request. */
export const gatheredListDurationMsMax = 60_000;

/** Of one list that is gathered as a whole in memory, as JSON: 16,000 objects of 2 KB, which is metadata with managed fields. */
export const gatheredListBytesMax = 32 * mebibyte;

/** Of all lists being gathered in this process, as JSON. Beyond it the account with the largest share loses its largest list. */
export const gatheredBytesMax = 64 * mebibyte;

/** Of an answer that is read without a place in `AnswerMemory`: an object, a page of few objects, most answers. */
export const freeAnswerBytes = 64 * 1024;

/** Answers above `freeAnswerBytes` that are read and parsed at a time in this process; further ones wait, and their servers do. */
export const largeAnswersMax = 4;

/** Of these, answers to one account, to leave room for others. */
export const largeAnswersOfAccountMax = 2;

/** While others wait for room, an answer loses its place if it has taken this long, milliseconds. */
export const largeAnswerMs = 2_000;

/** Period in which an answer that has begun must deliver `stallBytes`, milliseconds. */
export const stallMs = 10_000;

/** See `stallMs`: half a kilobyte a second, slower than any network on which API servers are operated. */
export const stallBytes = 5_000;

/** Of a kubeconfig, and of each file that it names. One with 300 clusters and their certificates has half of this. */
export const kubeconfigBytesMax = mebibyte;

/** Lines, and characters with a meaning in YAML, of a kubeconfig that is not JSON. One with 300 clusters has about 15,000. */
export const kubeconfigMarksMax = 40_000;

/** A server's answer exceeds one of the limits above. The message says which, without a subject: `has more than …`. */
export class AnswerLimitError extends Error {
  override name = 'AnswerLimitError';
  /** True if a request for fewer objects may stay within the limit. */
  readonly isOfSize: boolean;

  constructor(message: string, isOfSize: boolean) {
    super(message);
    this.isOfSize = isOfSize;
  }
}
