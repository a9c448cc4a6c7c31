import { setTimeout as sleep } from 'node:timers/promises';
import { localRegion } from '#infra/server/functions/local-aws.ts';

/** How often a call is sent at most. */
const maxAttempts = 7;

/** The pause after the first attempt, in ms; it doubles with each. */
const firstPauseMs = 200;

/** A call of an AWS service that speaks JSON over POST. */
export interface JsonCall {
  /** Name by which requests to it are signed, such as `logs`. */
  readonly service: string;
  /** Such as `Logs_20140328.FilterLogEvents`. */
  readonly target: string;
  readonly input: object;
}

/** Who calls, as far as an emulator asks: it reads service and region, and verifies nothing. */
function toAuthorization(service: string): string {
  return `AWS4-HMAC-SHA256 Credential=test/20260101/${localRegion}/${service}/aws4_request, SignedHeaders=host, Signature=0`;
}

/**
 * Calls a service for which there is no client among the project's dependencies.
 *
 * @throws Error for an answer that is not 2xx
 */
export async function callJson(endpoint: string, { service, target, input }: JsonCall): Promise<unknown> {
  const response = await send(endpoint, {
    method: 'POST',
    headers: {
      authorization: toAuthorization(service),
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': target,
    },
    body: JSON.stringify(input),
  });
  return readAnswer(response, target);
}

/** A call of an AWS service that speaks REST. */
export interface RestCall {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly input?: object;
}

/**
 * The same for a REST service.
 *
 * @throws Error for an answer that is not 2xx
 */
export async function callRest(
  endpoint: string,
  { service, method, path, input }: RestCall,
): Promise<unknown> {
  const response = await send(new URL(path, endpoint), {
    method,
    headers: { authorization: toAuthorization(service), 'content-type': 'application/json' },
    ...(input && { body: JSON.stringify(input) }),
  });
  return readAnswer(response, `${method} ${path}`);
}

/** A call of an AWS service that takes a form and answers XML. */
export interface QueryCall {
  readonly service: string;
  /** Such as `DescribeStacks`. */
  readonly action: string;
  readonly input: { readonly [name: string]: string };
}

/**
 * The same for a service of that kind.
 *
 * @returns the XML
 * @throws Error for an answer that is not 2xx
 */
export async function callQuery(endpoint: string, { service, action, input }: QueryCall): Promise<string> {
  const response = await send(endpoint, {
    method: 'POST',
    headers: { authorization: toAuthorization(service) },
    body: new URLSearchParams({ Action: action, ...input }),
  });
  return readText(response, action);
}

/** Puts a text into a bucket. @throws Error for an answer that is not 2xx */
export async function putObject(endpoint: string, name: string, body: string): Promise<void> {
  const headers = { authorization: toAuthorization('s3'), 'content-type': 'application/json' };
  const response = await send(new URL(name, endpoint), { method: 'PUT', headers, body });
  await readText(response, `PUT ${name}`);
}

/**
 * Sends a request anew while the service answers 5xx, as each SDK of AWS does: the emulator answers 500 where one of its lists
 * grows while it is read.
 *
 * @returns the first other answer, or the last one
 */
async function send(url: string | URL, request: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, request);
    if (response.status < 500 || attempt === maxAttempts) return response;
    await response.body?.cancel();
    await sleep(firstPauseMs * 2 ** (attempt - 1));
  }
}

async function readAnswer(response: Response, what: string): Promise<unknown> {
  const text = await readText(response, what);
  return text === '' ? undefined : JSON.parse(text);
}

async function readText(response: Response, what: string): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${what} answered ${response.status} ${text}`);
  return text;
}
