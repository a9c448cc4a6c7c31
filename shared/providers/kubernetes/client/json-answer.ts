import { type BoundedJson, JsonBoundsError, parseBoundedJson } from '#core/bounded-json.ts';
import { JsonNumberError } from '#core/exact-json.ts';
import { isJsonObject } from '#core/json.ts';
import { AnswerLimitError, answerJsonBounds, pageBytesMax } from '../api/answer-limits.ts';
import type { ApiResource } from '../api/client.ts';
import { isResourceNotServed, KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import type { ApiRequest, HeldText } from '../transport/http.ts';
import { withoutSecretValues } from './secret-refusal.ts';

/** An answer that is a JSON object, with the room that it takes. */
export interface HeldAnswer {
  readonly value: Manifest;
  /** Of its text. */
  readonly bytes: number;
  /** Which part it is of the most that a page may be, from 0 to 1. */
  readonly fill: number;
  /** See `HeldText.release`. */
  release(): void;
}

/**
 * The object that an answer is.
 *
 * @param account whose server it is, for errors
 * @throws KubernetesConnectionError when it is something else, which no API server answers, or goes beyond `answerJsonBounds`.
 */
export function parseJsonAnswer(text: string, account: string, method: string): Manifest {
  return parseAnswer(text, { account, method }).object;
}

/**
 * The object that an answer is, which goes on taking its room.
 *
 * @throws KubernetesConnectionError as `parseJsonAnswer`; its room is then given back.
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
 * The error of a request about a resource. A server that does not serve the resource says so without naming it: it is named.
 * What is said about a Secret loses its values here, before anybody sees it.
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
