import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#core/json.ts';
import { kubectl } from '#test/support/cluster/cluster.ts';
import type { SystemTask } from '#test/support/system/system.ts';
import { listNames, toDeploy, toJob, toManifests } from './manifests.ts';

/** Pause between two operations: some are posted, queued and run during each update. */
const pauseMs = 700;
/** Pause between two looks at a task, and before a call is repeated. */
const pollIntervalMs = 500;
/** How long a call is repeated, and how long a task may take: longer than any update does. */
const timeoutMs = 180_000;

const jobLabel = 'asked';

/** Objects in a namespace, as an operator sees them. */
export interface FoundObjects {
  readonly replicas: { readonly [deployment: string]: number };
  readonly configMaps: readonly string[];
  /** What each Job is labelled with: Kubernetes makes up its name, so that a second execution would be a second Job. */
  readonly jobs: readonly string[];
}

/** An operation that was accepted, and its task, which is polled to its end. */
export interface AcceptedOperation {
  readonly id: string;
  readonly task: Promise<SystemTask>;
}

/**
 * Posts operations one after the other until it is stopped, as Orca does: each with an id of its own, and again with the same id until
 * it is accepted. New Deployments with a ConfigMap, new Jobs and other sizes of Deployments take turns.
 */
export class OperationStream {
  readonly accepted: AcceptedOperation[] = [];
  /** Calls that were made again, since the answer was 5xx or none at all. */
  repeated = 0;
  readonly #url: string;
  readonly #namespace: string;
  readonly #replicas = new Map<string, number>();
  readonly #jobs: string[] = [];
  readonly #ended = new Map<string, SystemTask>();
  /** Names of Deployments that are there and have no other size yet. */
  readonly #unscaled: string[] = [];
  readonly #running: Promise<void>;
  #isStopped = false;

  /**
   * @param url of the API
   * @param namespace in which nobody else makes anything
   */
  constructor(url: string, namespace: string) {
    this.#url = url;
    this.#namespace = namespace;
    this.#running = this.#run();
    // Whoever waits learns of it.
    this.#running.catch(() => undefined);
  }

  /** Posts no more. @throws Error where an operation was refused, or not accepted in time */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /**
   * Waits until one of the operations that are accepted from now on has ended. Not each has to: whose worker is ended by an update
   * waits until its lease lapses and the sweeper looks. @throws Error as `stop` does
   */
  async waitForNext(): Promise<SystemTask> {
    const count = this.accepted.length;
    for (;;) {
      const ended = this.accepted.slice(count).flatMap(({ id }) => this.#ended.get(id) ?? []);
      if (ended[0] !== undefined) return ended[0];
      await Promise.race([sleep(pollIntervalMs), this.#running]);
      if (this.#isStopped) throw new Error('No operation is posted any more');
    }
  }

  /** Calls the API once. */
  fetch(path: string, headers: { readonly [name: string]: string } = {}): Promise<Response> {
    return fetch(new URL(path, this.#url), { headers: { ...plainJson, ...headers } });
  }

  /** What all accepted operations ask for together. */
  getWanted(): FoundObjects {
    return {
      replicas: Object.fromEntries(this.#replicas),
      configMaps: [...this.#replicas.keys()].map((name) => `${name}-v000`),
      jobs: this.#jobs,
    };
  }

  /** What is there. */
  async find(): Promise<FoundObjects> {
    const deployments = await list(this.#namespace, 'deployments');
    const jobs = await list(this.#namespace, 'jobs');
    return {
      replicas: Object.fromEntries(deployments.map(({ metadata, spec }) => [metadata.name, spec.replicas])),
      configMaps: await listNames(this.#namespace, 'configmaps'),
      jobs: jobs.map(({ metadata }) => metadata.labels?.[jobLabel] ?? metadata.name).sort(),
    };
  }

  async #run(): Promise<void> {
    for (let index = 0; !this.#isStopped; index += 1) {
      const name = `update-${String(index).padStart(4, '0')}`;
      const { task } = await this.#accept(name, toDeploy(toManifests(this.#namespace, name)));
      this.#replicas.set(name, 0);
      // What it comes to is asked of all in the end.
      void task.then(() => this.#unscaled.push(name)).catch(() => undefined);
      await this.#accept(`${name}-job`, toDeploy([this.#toJob(name)]));
      this.#jobs.push(name);
      const other = this.#unscaled.shift();
      if (other === undefined) continue;
      const replicas = 1 + (index % 3);
      await this.#accept(`${other}-scale`, this.#toScale(other, replicas));
      this.#replicas.set(other, replicas);
    }
  }

  #toJob(name: string): JsonObject {
    const { metadata, ...job } = toJob(this.#namespace);
    return { ...job, metadata: { ...Object(metadata), labels: { [jobLabel]: name } } };
  }

  #toScale(name: string, replicas: number): object[] {
    const manifestName = `deployment ${name}`;
    return [{ scaleManifest: { account: 'test', manifestName, location: this.#namespace, replicas } }];
  }

  async #accept(name: string, operations: readonly object[]): Promise<AcceptedOperation> {
    const clientRequestId = `${this.#namespace}-${name}`;
    const body = JSON.stringify(operations);
    const path = `/kubernetes/ops?clientRequestId=${clientRequestId}`;
    const answer = await this.#call(path, { method: 'POST', body });
    const { id } = JSON.parse(answer) as { readonly id: string };
    const operation = { id, task: this.#waitForTask(id) };
    // Whoever waits for all of them learns of it.
    operation.task.catch(() => undefined);
    this.accepted.push(operation);
    await sleep(pauseMs);
    return operation;
  }

  async #waitForTask(id: string): Promise<SystemTask> {
    const endsAtMs = performance.now() + timeoutMs;
    for (;;) {
      const task: SystemTask = JSON.parse(await this.#call(`/task/${id}`));
      if (task.status.completed) {
        this.#ended.set(id, task);
        return task;
      }
      if (performance.now() > endsAtMs) throw new Error(`Task ${id} is not completed: ${task.status.status}`);
      await sleep(pollIntervalMs);
    }
  }

  /**
   * Calls the API, again as long as the answer is 5xx or none at all: the emulator ends functions that it updates, though they
   * answer. @returns the body of the answer, which is 200
   */
  async #call(path: string, init?: RequestInit): Promise<string> {
    const endsAtMs = performance.now() + timeoutMs;
    for (;;) {
      const { status, text } = await this.#tryCall(path, init);
      if (status === 200) return text;
      const isFinal = status >= 400 && status < 500;
      if (isFinal || performance.now() > endsAtMs) throw new Error(`${path}: ${status} ${text}`);
      this.repeated += 1;
      await sleep(pollIntervalMs);
    }
  }

  /** @returns status 0 where there is no answer */
  async #tryCall(path: string, init?: RequestInit): Promise<{ status: number; text: string }> {
    try {
      const response = await fetch(new URL(path, this.#url), { ...init, headers: plainJson });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      return { status: 0, text: String(error) };
    }
  }
}

/** The emulator hands on what is compressed as text in base64 where answers are to be streamed. */
const plainJson = { 'content-type': 'application/json', 'accept-encoding': 'identity' };

interface KubernetesObject {
  readonly metadata: { readonly name: string; readonly labels?: { readonly [name: string]: string } };
  readonly spec: { readonly replicas: number };
}

async function list(namespace: string, kind: string): Promise<readonly KubernetesObject[]> {
  const { items } = JSON.parse(await kubectl(['-n', namespace, 'get', kind, '-o', 'json'])) as {
    readonly items: readonly KubernetesObject[];
  };
  return items;
}
