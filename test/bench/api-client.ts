import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { measure } from './statistics.ts';

/** Milliseconds between the answer about a task and the next request for it, unless told otherwise. */
const usualPollPauseMs = 5;

/** Milliseconds until a deploy must be completed, and until an answer must have begun and must go on. */
const deployTimeoutMs = 60_000;
const answerTimeoutMs = 60_000;

/** The server does not serve what was asked for: nothing else comes of asking again. */
export class NotServedError extends Error {
  override readonly name = 'NotServedError';
}

/** The server has too much to do, and asks to come again. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** A client of Clouddriver's API on kept connections, as Orca and Gate have it. Disposing closes them. */
export interface ApiClient extends AsyncDisposable {
  /**
   * Posts operations for Kubernetes and asks for their task until it is completed.
   *
   * @returns milliseconds from the POST to the answer that says so
   * @throws BusyError for an answer of 503
   * @throws Error when it fails, or is not completed within a minute
   */
  deploy(operations: readonly object[]): Promise<number>;
  /**
   * Reads all of an answer.
   *
   * @throws NotServedError when its status says that there is no such route
   * @throws BusyError for 503
   * @throws Error when its status is not 200
   */
  get(path: string): Promise<string>;
  /**
   * Sends JSON and reads all of the answer.
   *
   * @throws Error when its status is not 200
   */
  post(path: string, body: object): Promise<string>;
  /**
   * Bytes of an answer as they come over the network, in an encoding that the server may use.
   *
   * @throws Error when its status is not 200
   */
  getLength(path: string, encoding: 'gzip' | 'identity'): Promise<number>;
}

export interface ApiClientOptions {
  /** Default 1. */
  readonly connections?: number;
  /** Milliseconds between two requests for a task. Default 5. */
  readonly pollPauseMs?: number;
}

export function openApiClient(
  url: string,
  { connections = 1, pollPauseMs = usualPollPauseMs }: ApiClientOptions = {},
): ApiClient {
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/$/, '');
  const timeouts = { headersTimeout: answerTimeoutMs, bodyTimeout: answerTimeoutMs };
  const pool = new Pool(origin, { connections, pipelining: 1, ...timeouts });
  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<string> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const request = { method, path: `${base}${path}`, headers };
    const answer = await pool.request({ ...request, ...(body && { body: JSON.stringify(body) }) });
    const text = await answer.body.text();
    checkStatus(answer.statusCode, { method, path, text });
    return text;
  };
  const isCompleted = async (id: string): Promise<boolean> => {
    const text = await call('GET', `/task/${id}`);
    const { status } = JSON.parse(text) as { status: { completed: boolean; failed: boolean } };
    if (status.failed) throw new Error(`the deploy failed: ${text.slice(0, 500)}`);
    return status.completed;
  };
  return {
    deploy: (operations) =>
      measure(async () => {
        const deadline = performance.now() + deployTimeoutMs;
        const { id } = JSON.parse(await call('POST', '/kubernetes/ops', operations));
        do {
          if (performance.now() > deadline) throw new Error(`task ${id} is not completed after a minute`);
          await sleep(pollPauseMs);
        } while (!(await isCompleted(id)));
      }),
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    async getLength(path, encoding) {
      const headers = { accept: 'application/json', 'accept-encoding': encoding };
      const answer = await pool.request({ method: 'GET', path: `${base}${path}`, headers });
      const bytes = await answer.body.bytes();
      checkStatus(answer.statusCode, { method: 'GET', path, text: '' });
      return bytes.length;
    },
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

function checkStatus(
  status: number,
  { method, path, text }: { method: string; path: string; text: string },
): void {
  if (status >= 200 && status < 300) return;
  const message = `${method} ${path}: ${status} ${text.slice(0, 300)}`;
  if (status === 503) throw new BusyError(message);
  throw [404, 405, 501].includes(status) ? new NotServedError(message) : new Error(message);
}
