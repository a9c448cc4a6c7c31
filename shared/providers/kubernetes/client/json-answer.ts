import { type BoundedJson, JsonBoundsError, parseBoundedJson } from '#core/bounded-json.ts';
import { JsonNumberError } from '#core/exact-json.ts';
import { isJsonObject } from '#core/json.ts';
import { AnswerLimitError, answerJsonBounds, pageBytesMax } from '../api/answer-limits.ts';
import type { ApiResource } from '../api/client.ts';
import { isResourceNotServed, KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import type { ApiRequest, HeldText } from '../transport/http.ts';
import { withoutSecretValues } from './secret-refusal.ts';

/** An answer that is a JSON object, with the memory that it takes. */
export interface HeldAnswer {
  readonly value: Manifest;
  /** Size of its text. */
  readonly bytes: number;
  /** Its share of the largest allowed page, from 0 to 1. */
  readonly fill: number;
  /** See `HeldText.release`. */
  release(): void;
}

/**
 * Parses an answer into its object.
 *
 * @param account the account of the server, for errors
 * @throws KubernetesConnectionError if it is anything else, which no API server answers, or exceeds `answerJsonBounds`.
 */
export function parseJsonAnswer(text: string, account: string, method: string): Manifest {
  return parseAnswer(text, { account, method }).object;
}

/**
 * Parses an answer into its object, which keeps its memory reserved.
 *
 * @throws KubernetesConnectionError like `parseJsonAnswer`; the memory is then released.
 */
export function parseHeldAnswer(held: HeldText, source: AnswerSource): HeldAnswer {
  const { text, release } = held;
  try {
    const { object: value, values } = parseAnswer(text, source);
    const fill = Math.max(text.length / pageBytesMax, values / answerJsonBounds.valuesMax);
    return { value, bytes: text.length, fill, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Where an answer comes from, for errors. */
export interface AnswerSource {
  readonly account: string;
  readonly method: string;
}

function parseAnswer(
  text: string,
  { account, method }: AnswerSource,
): { readonly object: Manifest; readonly values: number } {
  const what = `account "${account}": the answer to ${method}`;
  const { value, values } = parseJson(text, what);
  if (isJsonObject(value)) return { object: value, values };
  throw new KubernetesConnectionError(`${what} is no JSON object`);
}

function parseJson(text: string, what: string): BoundedJson {
  try {
    return parseBoundedJson(text, answerJsonBounds);
  } catch (error) {
    if (error instanceof JsonNumberError) throw new KubernetesConnectionError(`${what} ${error.message}`);
    if (!(error instanceof JsonBoundsError)) throw new KubernetesConnectionError(`${what} is no JSON`);
    const cause = new AnswerLimitError(error.message, error.bound === 'valuesMax');
    throw new KubernetesConnectionError(`${what} ${error.message}`, { cause });
  }
}

/**
 * The error of a request about a resource. A server that does not serve the resource says so without naming it: this adds the name. Values
 * of a Secret are removed here, before anyone sees the text.
 */
export function nameResource(
  thrown: unknown,
  resource: ApiResource,
  { account, request }: { readonly account: string; readonly request: ApiRequest },
): unknown {
  const error = withoutSecretValues(thrown, resource, request);
  if (!isResourceNotServed(error)) return error;
  const { kind, apiVersion } = resource;
  const call = `${request.method} ${request.path.split('?')[0]}`;
  const what = `the cluster of account "${account}" does not serve ${kind} in ${apiVersion} (${call})`;
  return new KubernetesApiError(404, error.reason, `${error.message}: ${what}`);
}
