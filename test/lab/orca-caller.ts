import { setTimeout as sleep } from 'node:timers/promises';
import { drawInteger, drawItem, type Random } from '#test/support/run/seeded-random.ts';
import type { SystemTask } from '#test/support/system/system.ts';
import type { Operation } from './chains.ts';

export interface OrcaCallerOptions {
  /** Where the API answers at the moment: any of these. */
  getUrls(): readonly string[];
  readonly random: Random;
  /** The caller gives up when this is aborted. */
  readonly signal: AbortSignal;
}

/** Milliseconds that an answer may take: Orca's client waits so long. */
const answerTimeoutMs = 10_000;

/** Milliseconds between two looks at a task. */
const pollIntervalMs = 250;

/** Posts with a task already, of which so many are posted again, as by a caller whose answer was lost. */
const repeatShare = 0.1;

/** Posts operations and waits for tasks as Orca does, at any of several processes of which each may be dead or stand still. */
export class OrcaCaller {
  readonly #options: OrcaCallerOptions;
  readonly #answers = new Map<string, number>();
  readonly #wrongs = new Set<string>();

  constructor(options: OrcaCallerOptions) {
    this.#options = options;
  }

  /** How often what was answered, such as `POST 200`. */
  get answers(): ReadonlyMap<string, number> {
    return this.#answers;
  }

  /** What a caller may not be answered, each once. */
  get wrongs(): readonly string[] {
    return [...this.#wrongs];
  }

  /** Posts operations until they are accepted. @returns the task's id; undefined when it was given up */
  async post(operations: readonly Operation[], clientRequestId: string): Promise<string | undefined> {
    const id = await this.#postUntilAccepted(operations, clientRequestId);
    if (id === undefined || this.#options.random() > repeatShare) return id;
    const other = await this.#postUntilAccepted(operations, clientRequestId);
    if (other !== undefined && other !== id)
      this.#wrongs.add(`${clientRequestId} became two tasks: ${id} and ${other}`);
    return id;
  }

  /** Looks at a task until it has ended. @returns the task; undefined when that was given up */
  async awaitEnd(id: string): Promise<SystemTask | undefined> {
    while (!this.#options.signal.aborted) {
      const answer = await this.call('GET', `/task/${id}`);
      if (answer?.status === 404) this.#wrongs.add(`the accepted task ${id} was not found`);
      const task: SystemTask | undefined = answer?.status === 200 ? JSON.parse(answer.body) : undefined;
      if (task?.status.completed || task?.status.failed) return task;
      await this.#pause(pollIntervalMs);
    }
    return undefined;
  }

  /** Calls one of the processes. @returns undefined when there came no answer, or one that asks to try again */
  async call(
    method: 'GET' | 'POST',
    path: string,
    body?: string,
  ): Promise<{ readonly status: number; readonly body: string } | undefined> {
    const { getUrls, random, signal } = this.#options;
    const url = new URL(path, drawItem(random, getUrls()));
    try {
      const response = await fetch(url, {
        method,
        ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
      });
      const text = await response.text();
      this.#note(method, response, text);
      return response.status < 500 ? { status: response.status, body: text } : undefined;
    } catch {
      this.#count(`${method} without an answer`);
      return undefined;
    }
  }

  async #postUntilAccepted(operations: readonly Operation[], requestId: string): Promise<string | undefined> {
    const body = JSON.stringify(operations);
    while (!this.#options.signal.aborted) {
      const answer = await this.call('POST', `/kubernetes/ops?clientRequestId=${requestId}`, body);
      if (answer?.status === 200) return JSON.parse(answer.body).id;
      await this.#pause(drawInteger(this.#options.random, 200, 1_000));
    }
    return undefined;
  }

  /** Orca repeats a POST on 503 alone, and what is overloaded says when to come again. */
  #note(method: string, { status, headers }: Response, body: string): void {
    this.#count(`${method} ${status}`);
    const isUnavailable = status === 503 && headers.has('retry-after');
    if (status === 200 || (status === 404 && method === 'GET') || isUnavailable) return;
    this.#wrongs.add(
      `${method} was answered ${status}${status === 503 ? ' without Retry-After' : ''}: ${body.slice(0, 200)}`,
    );
  }

  #count(what: string): void {
    this.#answers.set(what, (this.#answers.get(what) ?? 0) + 1);
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#options.signal }).catch(() => undefined);
  }
}
