import { setTimeout as sleep } from 'node:timers/promises';
import { checkResponse } from './validate-answer.ts';

/** Who posts operations, and under which id. */
export interface PostOptions {
  readonly clientRequestId?: string;
  /** `X-SPINNAKER-USER`. */
  readonly user?: string;
  /** Default `kubernetes`. */
  readonly cloudProvider?: string;
}

/** A task as `GET /task/{id}` answers it. */
export interface SystemTask {
  readonly id: string;
  readonly status: { readonly completed: boolean; readonly failed: boolean; readonly status: string };
  readonly history: readonly { readonly phase: string; readonly status: string }[];
  readonly resultObjects: readonly { readonly [name: string]: unknown }[];
}

/** Attempts of a post that is refused since there is too much at once, which a busy machine makes of a burst. */
const attemptsMax = 20;

/** What the front door of a starved process says. */
const lateProcess = /this process is \d+ ms late/;

/** Milliseconds between two looks at a task: few at first, and more each time. To look costs processor time that the task needs. */
const pollIntervalMs = { first: 5, most: 100, growth: 1.5 };

/** Calls the API as Spinnaker's services do, and holds every answer to the OpenAPI document. */
export abstract class ApiCaller {
  /** Where the API answers. */
  abstract readonly url: string;

  /**
   * `fetch` of a path of the API, again where the process is late: it has read nothing of the request.
   *
   * @throws Error for an answer that the OpenAPI document does not have
   */
  async fetch(target: string, init?: RequestInit): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(new URL(target, this.url), init);
      const isLate = response.status === 503 && lateProcess.test(await response.clone().text());
      if (!isLate || attempt === attemptsMax) return checkResponse(response, init);
      await sleep(1_000);
    }
  }

  /**
   * Posts operations, again where there was too much at once, and with an id of the request also where a store was away.
   *
   * @returns the task's id
   * @throws Error for an answer that is not 200
   */
  async postOperations(operations: readonly object[], options: PostOptions = {}): Promise<string> {
    const { clientRequestId, user, cloudProvider = 'kubernetes' } = options;
    const query = clientRequestId ? `?clientRequestId=${encodeURIComponent(clientRequestId)}` : '';
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.fetch(`/${cloudProvider}/ops${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(user && { 'X-SPINNAKER-USER': user }) },
        body: JSON.stringify(operations),
      });
      const body = await response.text();
      if (response.status === 200) return JSON.parse(body).id;
      // Refused before anything was done: Orca, too, sends it again. What a store was away for may have been done: only under the same
      // id it is safe to say it again.
      const mayRepeat = clientRequestId === undefined ? /Too much at once/ : /Too much at once|store is away/;
      if (response.status !== 503 || !mayRepeat.test(body) || attempt === attemptsMax) {
        throw new Error(`POST /${cloudProvider}/ops: ${response.status} ${body}`);
      }
      await sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
    }
  }

  /**
   * Polls a task until it is completed, whether it failed or not.
   *
   * @param timeoutMs default two minutes: a hang is to be caught, not a machine that is busy
   * @throws Error when it takes longer, with the task and what the system wrote
   */
  async waitForTask(id: string, { timeoutMs = 120_000 }: { timeoutMs?: number } = {}): Promise<SystemTask> {
    const endsAtMs = performance.now() + timeoutMs;
    for (let pauseMs = pollIntervalMs.first; ; pauseMs *= pollIntervalMs.growth) {
      const { status, body } = await this.readTask(id);
      const task: SystemTask | undefined = status === 200 ? JSON.parse(body) : undefined;
      if (task?.status.completed) return task;
      if (performance.now() > endsAtMs) {
        throw new Error(
          `Task ${id} was not completed after ${timeoutMs} ms: ${body}${await this.describe()}`,
        );
      }
      await sleep(Math.min(pauseMs, pollIntervalMs.most));
    }
  }

  /** One look at a task. */
  protected async readTask(id: string): Promise<{ status: number; body: string }> {
    const response = await this.fetch(`/task/${encodeURIComponent(id)}`);
    return { status: response.status, body: await response.text() };
  }

  /** What the system wrote last, for the message of an error. */
  protected abstract describe(): Promise<string>;
}
