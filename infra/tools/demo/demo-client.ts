import { randomUUID } from 'node:crypto';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asString, getPath, type JsonValue, parseJson } from '#core/json.ts';
import { type DemoRequest, demoApplication } from './demo-application.ts';

/** Busdriver's answer was an error. */
export class RequestFailedError extends Error {
  override readonly name = 'RequestFailedError';
  /** HTTP status. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Calls the HTTP API as Orca and Gate do. */
export interface DemoClient {
  readonly url: string;
  get(path: string, signal: AbortSignal): Promise<JsonValue>;
  /** Posts operations. @returns the id of their task */
  startOperations(request: DemoRequest, signal: AbortSignal): Promise<string>;
}

/**
 * Makes a client. Its calls throw RequestFailedError for error answers, and Error when nobody answers.
 *
 * @param url without a slash at the end
 * @param token the bearer token that it asks for, if any
 */
export function createDemoClient(url: string, token?: string): DemoClient {
  const headers = {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    'X-SPINNAKER-USER': 'busdriver-demo',
    'X-SPINNAKER-APPLICATION': demoApplication,
    'X-SPINNAKER-EXECUTION-ID': randomUUID(),
  };
  return {
    url,
    get: (path, signal) => send(url + path, { headers, signal }),
    async startOperations({ clientRequestId, operations }, signal) {
      const answer = await send(`${url}/kubernetes/ops?clientRequestId=${clientRequestId}`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(operations),
        signal,
      });
      return String(getPath(answer, 'id'));
    },
  };
}

async function send(url: string, init: RequestInit): Promise<JsonValue> {
  const response = await fetch(url, init).catch((error: unknown) => {
    init.signal?.throwIfAborted();
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new Error(`${new URL(url).origin} does not answer: ${getErrorMessage(cause)}`, { cause });
  });
  const text = await response.text();
  if (!response.ok) throw new RequestFailedError(response.status, describeError(response.status, text));
  return JSON.parse(text) as JsonValue;
}

/** What Clouddriver's error body says: its `errors` if any, else its message. */
function describeError(status: number, text: string): string {
  const body = parseJson(text);
  const errors = asJsonArray(getPath(body, 'errors')).map(String);
  const message = errors.length > 0 ? errors.join('; ') : asString(getPath(body, 'message'));
  return `${status} ${message ?? text.slice(0, 200)}`;
}
