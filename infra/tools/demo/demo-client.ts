import { randomUUID } from 'node:crypto';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import { type DemoRequest, demoApplication } from './demo-application.ts';

/** A line of a task's history. */
export interface DemoHistoryLine {
  readonly phase: string;
  readonly status: string;
}

/** What the demo reads of a task. */
export interface DemoTask {
  readonly completed: boolean;
  readonly failed: boolean;
  readonly history: readonly DemoHistoryLine[];
  /** Message of the failure, for a failed task. */
  readonly failure: string;
  /** Full names (kind, space, name) of what was deployed. */
  readonly deployed: readonly string[];
}

/** What the demo reads of a manifest's status. */
export interface DemoManifest {
  readonly stable: boolean;
  readonly failed: boolean;
  /** What it waits for, or why it failed; may be empty. */
  readonly message: string;
}

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
  /** Names of the Kubernetes accounts. */
  listAccounts(signal: AbortSignal): Promise<readonly string[]>;
  /** Posts operations. @returns the id of their task */
  startOperations(request: DemoRequest, signal: AbortSignal): Promise<string>;
  getTask(id: string, signal: AbortSignal): Promise<DemoTask>;
  /** @param path of `toManifestPath` */
  getManifest(path: string, signal: AbortSignal): Promise<DemoManifest>;
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
  const get = (path: string, signal: AbortSignal): Promise<JsonValue> =>
    send(url + path, { headers, signal });
  return {
    url,
    async listAccounts(signal) {
      const accounts = asJsonArray(await get('/credentials', signal));
      return accounts
        .filter((account) => getPath(account, 'cloudProvider') === 'kubernetes')
        .map((account) => String(getPath(account, 'name')));
    },
    async startOperations({ clientRequestId, operations }, signal) {
      const answer = await send(`${url}/kubernetes/ops?clientRequestId=${clientRequestId}`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(operations),
        signal,
      });
      return String(getPath(answer, 'id'));
    },
    getTask: async (id, signal) => toTask(await get(`/task/${id}`, signal)),
    getManifest: async (path, signal) => toManifest(await get(path, signal)),
  };
}

/** Path of a live manifest. `name` is kind, space, name. */
export function toManifestPath(target: { account: string; namespace: string }, name: string): string {
  const segments = [target.account, target.namespace, name].map(encodeURIComponent);
  return `/manifests/${segments.join('/')}?includeEvents=false`;
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toTask(task: JsonValue): DemoTask {
  const results = asJsonArray(getPath(task, 'resultObjects'));
  const exceptions = results.filter((result) => getPath(result, 'type') === 'EXCEPTION');
  return {
    completed: getPath(task, 'status', 'completed') === true,
    failed: getPath(task, 'status', 'failed') === true,
    history: asJsonArray(getPath(task, 'history')).map((line) => ({
      phase: String(getPath(line, 'phase')),
      status: String(getPath(line, 'status')),
    })),
    failure: exceptions.map((exception) => String(getPath(exception, 'message'))).join('; '),
    deployed: results.flatMap(listNames),
  };
}

function listNames(result: JsonValue): string[] {
  const byNamespace = getPath(result, 'manifestNamesByNamespace') ?? {};
  return Object.values(byNamespace as object).flatMap((names) => asJsonArray(names).map(String));
}

function toManifest(manifest: JsonValue): DemoManifest {
  const failed = getPath(manifest, 'status', 'failed', 'state') === true;
  const condition = getPath(manifest, 'status', failed ? 'failed' : 'stable');
  return {
    stable: getPath(manifest, 'status', 'stable', 'state') === true,
    failed,
    message: asString(getPath(condition, 'message')) ?? '',
  };
}
