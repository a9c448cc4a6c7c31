import type { Answer, AnswerBody } from './answer.ts';

/** A response. */
export interface ApiResponse {
  readonly status: number;
  /** JSON text, or bytes of any type, which may be sent as they arrive. */
  readonly body: AnswerBody;
  /** As {@link Answer} has it. */
  readonly pack?: Answer['pack'];
  /** Default: Clouddriver's JSON type. */
  readonly contentType?: string;
  /** Further headers by name. */
  readonly headers?: { readonly [name: string]: string };
}

/** 200 with a value as JSON. @typeParam Value the type that the answer's schema describes: see `shared/contract/answers/`. */
export function ok<Value = unknown>(value: Value): ApiResponse & { readonly body: string } {
  return { status: 200, body: JSON.stringify(value) };
}

/** 200 with JSON text made elsewhere. */
export function okText(body: string): ApiResponse {
  return { status: 200, body };
}

/** Headers of every answer: no browser is to guess its type. */
const safeHeaders = { 'X-Content-Type-Options': 'nosniff' };

const jsonType = 'application/json;charset=UTF-8';

/** The answer of a response. */
export function toAnswer({ status, body, pack, contentType = jsonType, headers }: ApiResponse): Answer {
  const typeHeaders = status === 304 ? {} : { 'Content-Type': contentType };
  return { status, body, pack, headers: { ...safeHeaders, ...headers, ...typeHeaders } };
}
