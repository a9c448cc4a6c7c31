import { Agent, type IncomingMessage, request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** What a sender of operations is told. */
export interface OverloadData {
  readonly url: string;
  /** Bodies of `POST /kubernetes/ops`, all sent at once. */
  readonly bodies: readonly string[];
  /** So many look at tasks at a time, each second, as stages of Orca do. */
  readonly pollers: number;
}

/** One answer. */
export interface OverloadAnswer {
  readonly method: 'GET' | 'POST';
  readonly status: number;
  /** Milliseconds from the call to the end of the answer, so that connecting counts. */
  readonly waitedMs: number;
  readonly retryAfter: string | undefined;
}

/** What it tells when every task is completed. */
export interface OverloadReport {
  readonly answers: readonly OverloadAnswer[];
  /** How many tasks were completed. */
  readonly completed: number;
  /** Those that did not succeed, as `GET /task/{id}` answered. */
  readonly failed: readonly string[];
}

/** Requests that are begun before the sender looks at answers. */
const sliceLength = 20;

/** Milliseconds between two looks of a poller, as in Orca. */
const pollIntervalMs = 1_000;

/** It runs in a thread of its own: what it costs to send must not count as time that a request waits. */
class Sender {
  readonly #data: OverloadData;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #accepted: string[] = [];
  readonly #answers: OverloadAnswer[] = [];
  readonly #failed: string[] = [];
  #completed = 0;

  constructor(data: OverloadData) {
    this.#data = data;
  }

  async run(): Promise<OverloadReport> {
    const posting: Promise<void>[] = [];
    for (const [index, body] of this.#data.bodies.entries()) {
      posting.push(this.#post(body, index));
      // The sender's own work must not count as time that a request waits.
      if (index % sliceLength === 0) await nextTurn();
    }
    const polling = Array.from({ length: this.#data.pollers }, () => this.#poll());
    await Promise.all([...posting, ...polling]);
    this.#agent.destroy();
    return { answers: this.#answers, completed: this.#completed, failed: this.#failed };
  }

  async #post(body: string, index: number): Promise<void> {
    const path = `/kubernetes/ops?clientRequestId=overload-${index}`;
    this.#accepted.push(JSON.parse(await this.#send('POST', path, body)).id);
  }

  /** Follows one task after the other until all are completed. */
  async #poll(): Promise<void> {
    while (this.#completed < this.#data.bodies.length) {
      const id = this.#accepted.shift();
      if (id !== undefined) await this.#follow(id);
      else await sleep(pollIntervalMs / 10);
    }
  }

  async #follow(id: string): Promise<void> {
    for (;;) {
      const answer = await this.#send('GET', `/task/${id}`);
      const { status }: { status: { completed: boolean; failed: boolean } } = JSON.parse(answer);
      if (status.completed) {
        this.#completed += 1;
        if (status.failed) this.#failed.push(answer);
        return;
      }
      await sleep(pollIntervalMs);
    }
  }

  /** Sends a request again for as long as the answer is 503, as Orca does. @throws Error for any other that is not 200 */
  async #send(method: 'GET' | 'POST', path: string, body?: string): Promise<string> {
    for (;;) {
      const startMs = performance.now();
      const response = await this.#sendOnce(method, path, body);
      const answer = await text(response);
      const { statusCode: status = 0 } = response;
      const retryAfter = response.headers['retry-after'];
      this.#answers.push({ method, status, waitedMs: performance.now() - startMs, retryAfter });
      if (status === 200) return answer;
      if (status !== 503) throw new Error(`${method} ${path}: ${status} ${answer}`);
      await sleep(Number(retryAfter ?? 1) * 1_000 * (1 + Math.random()));
    }
  }

  #sendOnce(method: string, path: string, body: string | undefined): Promise<IncomingMessage> {
    const headers = { 'content-type': 'application/json', 'x-spinnaker-user': 'everybody' };
    const call = sendRequest(new URL(path, this.#data.url), { method, headers, agent: this.#agent });
    return new Promise((resolve, reject) => {
      call.once('response', resolve).once('error', reject);
      call.end(body);
    });
  }
}

if (parentPort !== null) parentPort.postMessage(await new Sender(workerData as OverloadData).run());
