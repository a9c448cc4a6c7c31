import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type JsonBounds, parseBoundedJson } from '#core/bounded-json.ts';
import { asString, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Answer, AnswerBody } from './answer.ts';

/** Bytes of bodies that are logged; for larger ones only their size. */
export const loggedBodyBytesMax = 64 * 2 ** 10;

/** Replaces a secret. */
const mask = '******';

/** Headers, parameters and members by these names may hold secrets. */
const secretName = /authorization|cookie|password|passwd|token|secret|key|credential/i;

const bodyBounds: JsonBounds = { depthMax: 64, valuesMax: 20_000 };

/** Levels of JSON texts within texts, such as the annotation with the last applied configuration, searched for secrets. */
const nestedTextsMax = 2;

/** A request that was answered. */
export interface AnsweredRequest {
  readonly event: APIGatewayProxyEvent;
  readonly answer: Pick<Answer, 'status' | 'body'>;
  /** How long that took, milliseconds. */
  readonly durationMs: number;
}

/** Logs a request with its headers and body, secrets masked, and its outcome. */
export function logRequest({ event, answer, durationMs }: AnsweredRequest, log: Pick<Logger, 'info'>): void {
  log.info('request', {
    ...describeRequest(event),
    status: answer.status,
    answerBytes: countBytes(answer.body),
    durationMs: Math.round(durationMs),
  });
}

/** Bytes of a body; undefined where it arrives piece by piece. */
function countBytes(body: AnswerBody): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.length : undefined;
}

/** The request, secrets masked: method, path, query, headers, body. */
export function describeRequest(event: APIGatewayProxyEvent): JsonObject {
  const { httpMethod: method, path, multiValueQueryStringParameters, multiValueHeaders } = event;
  return {
    method,
    path,
    query: maskNamed(multiValueQueryStringParameters),
    headers: maskNamed(multiValueHeaders),
    body: describeBody(event),
  };
}

type NamedValues = { readonly [name: string]: readonly string[] | undefined } | null;

/** Values by name, one text each. */
function maskNamed(values: NamedValues): JsonObject {
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([name, texts]) => [
      name,
      secretName.test(name) ? mask : (texts ?? []).join(', '),
    ]),
  );
}

/** The masked body; its size where it is no JSON. */
function describeBody({ body, isBase64Encoded }: APIGatewayProxyEvent): JsonValue {
  if (!body) return null;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  const text = bytes.length > loggedBodyBytesMax ? '' : bytes.toString('utf8');
  const parsed = parseJson(text);
  return parsed === undefined ? `${bytes.length} bytes, not shown` : maskValue(parsed, 0);
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return parseBoundedJson(text, bodyBounds).value;
  } catch {
    return undefined;
  }
}

/** Masks Kubernetes' Secrets as a whole, other members by their names, and texts that are JSON themselves. */
function maskValue(value: JsonValue, textDepth: number): JsonValue {
  if (Array.isArray(value)) return value.map((item) => maskValue(item, textDepth));
  if (isJsonObject(value)) return maskObject(value, textDepth);
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  const nested = textDepth < nestedTextsMax ? parseJson(value) : undefined;
  return nested === undefined ? mask : JSON.stringify(maskValue(nested, textDepth + 1));
}

function maskObject(object: JsonObject, textDepth: number): JsonObject {
  const isSecret = asString(object.kind)?.toLowerCase() === 'secret';
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      const isHidden = secretName.test(name) || (isSecret && /^(data|stringData)$/i.test(name));
      return [name, isHidden ? mask : maskValue(value, textDepth)];
    }),
  );
}
