import { setTimeout as sleep } from 'node:timers/promises';
import { asJsonArray, asString, getPath, type JsonObject, type JsonValue } from '#core/json.ts';

const pollIntervalMs = 200;

/** An API under fuzz, as the run itself talks to it before and after. */
export interface FuzzApi {
  /** Without a slash at the end. */
  readonly url: string;
  call(method: string, target: string, body?: JsonValue): Promise<ApiAnswer>;
  /** Posts operations of Kubernetes. @returns the task's id @throws Error for an answer that is not 200 */
  startTask(operations: readonly JsonObject[]): Promise<string>;
  /** Polls a task until it has ended. @throws Error when it takes longer than `timeoutMs` */
  waitForTask(id: string, timeoutMs: number): Promise<JsonValue>;
  /** Waits until no task is open. @returns ids of those that still are after `timeoutMs` */
  waitForTasks(timeoutMs: number): Promise<readonly string[]>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonValue;
}

/** The API at a URL, which may have a path. */
export function openFuzzApi(baseUrl: string): FuzzApi {
  const url = baseUrl.replace(/\/+$/, '');
  const call = async (method: string, target: string, body?: JsonValue): Promise<ApiAnswer> => {
    const response = await fetch(`${url}${target}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  return {
    url,
    call,
    startTask: async (operations) => {
      const { status, body } = await call('POST', '/kubernetes/ops', [...operations]);
      const id = asString(getPath(body, 'id'));
      if (status !== 200 || id === undefined)
        throw new Error(`POST /kubernetes/ops: ${JSON.stringify(body)}`);
      return id;
    },
    waitForTask: (id, timeoutMs) => waitForTask(call, id, timeoutMs),
    waitForTasks: (timeoutMs) => waitForTasks(call, timeoutMs),
  };
}

async function waitForTask(call: FuzzApi['call'], id: string, timeoutMs: number): Promise<JsonValue> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const { body } = await call('GET', `/task/${id}`);
    if (getPath(body, 'status', 'completed') === true) return body;
    if (performance.now() > endsAtMs) throw new Error(`Task ${id} is still open: ${JSON.stringify(body)}`);
    await sleep(pollIntervalMs);
  }
}

async function waitForTasks(call: FuzzApi['call'], timeoutMs: number): Promise<readonly string[]> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const { body } = await call('GET', '/task');
    const ids = asJsonArray(body).map((task) => asString(getPath(task, 'id')) ?? '');
    if (ids.length === 0 || performance.now() > endsAtMs) return ids;
    await sleep(pollIntervalMs);
  }
}
