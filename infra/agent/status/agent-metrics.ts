import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { BoundedLabels } from '#core/bounded-labels.ts';

/** Seconds of a batch, a call over the network. */
const batchBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Seconds of a task, which may wait for a cluster. */
const taskBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

/** The facts of a batch of changes. */
export interface BatchFigures {
  /** Changes of objects that it held. */
  readonly changes: number;
  /** Bytes that were sent, as they were compressed. */
  readonly bytes: number;
  /** Milliseconds until Busdriver had answered. */
  readonly ms: number;
}

/** Changes that wait together. */
interface WaitingChanges {
  readonly changes: number;
  readonly sinceMs: number;
}

/**
 * The metrics of an agent. The names that begin with `kubesvc` are those that dashboards for Armory's agent know. Labels are names of
 * accounts alone, of which there are as many as the agent's file has.
 */
export class AgentMetrics {
  readonly #registry = new Registry();
  readonly #connections = this.#gauge(
    'kubesvc_connection_count',
    'Sessions in which Busdriver answered the last call.',
  );
  readonly #disconnections = this.#counter(
    'kubesvc_disconnection_total',
    'How often a session was lost, or Busdriver ceased to answer.',
  );
  readonly #events = this.#counter(
    'kubesvc_events_sent_total',
    'Changes of objects that Busdriver has taken.',
  );
  readonly #eventBytes = this.#counter('kubesvc_events_bytes_sent_total', 'Bytes in which they were sent.');
  readonly #resources = this.#accountGauge(
    'kubesvc_resource_agent_total',
    'Kinds that are watched or polled.',
  );
  readonly #outbox = this.#accountGauge(
    'busdriver_agent_outbox_changes',
    'Changes of objects that wait to be sent.',
  );
  readonly #lag = this.#accountGauge(
    'busdriver_agent_lag_seconds',
    'Age of the oldest change that waits to be sent.',
  );
  readonly #batches = this.#histogram(
    'busdriver_agent_batch_seconds',
    'Time until Busdriver had taken a batch of changes.',
    batchBounds,
  );
  readonly #tasks = this.#histogram(
    'busdriver_agent_task_seconds',
    'Time from the lease of a task until it was handed back.',
    taskBounds,
  );
  readonly #runningTasks = this.#gauge('busdriver_agent_tasks', 'Tasks that run.');
  readonly #runningReads = this.#gauge('busdriver_agent_reads', 'Live reads that run.');
  readonly #memory = this.#gauge('process_resident_memory_bytes', 'Resident memory size in bytes.');

  /** By account; of the second by caching agent, too. An agent has as many as its file. */
  readonly #waiting = new Map<string, Set<WaitingChanges>>();
  readonly #watches = new Map<string, Map<string, number>>();

  /** A session answers, or does so no more. */
  countConnection(isConnected: boolean): void {
    this.#connections.inc(isConnected ? 1 : -1);
    if (!isConnected) this.#disconnections.inc();
  }

  /** Busdriver took a batch. */
  countBatch({ changes, bytes, ms }: BatchFigures): void {
    this.#events.inc(changes);
    this.#eventBytes.inc(bytes);
    this.#batches.observe(ms / 1_000);
  }

  /** Changes of an account begin to wait for Busdriver. @returns to be called once, when they do so no more */
  beginChanges(account: string, changes: number): () => void {
    const waiting = this.#waiting.get(account) ?? new Set<WaitingChanges>();
    this.#waiting.set(account, waiting);
    const one = { changes, sinceMs: performance.now() };
    waiting.add(one);
    return () => void waiting.delete(one);
  }

  /** How many kinds of an account one of its caching agents watches, or polls. */
  setWatches(account: string, agent: string, count: number): void {
    const counts = this.#watches.get(account) ?? new Map<string, number>();
    this.#watches.set(account, counts.set(agent, count));
    this.#resources(
      account,
      [...counts.values()].reduce((sum, each) => sum + each, 0),
    );
  }

  /** A task begins. @returns to be called once, when it ends */
  beginTask(): () => void {
    const beganMs = performance.now();
    this.#runningTasks.inc();
    return () => {
      this.#runningTasks.dec();
      this.#tasks.observe((performance.now() - beganMs) / 1_000);
    };
  }

  /** A live read begins. @returns to be called once, when it ends */
  beginRead(): () => void {
    this.#runningReads.inc();
    return () => this.#runningReads.dec();
  }

  /** Content type of the text. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All of it, in Prometheus' text format 0.0.4. */
  format(): Promise<string> {
    this.#memory.set(process.memoryUsage.rss());
    this.#countWaiting();
    return this.#registry.metrics();
  }

  #countWaiting(): void {
    const nowMs = performance.now();
    for (const [account, waiting] of this.#waiting) {
      let changes = 0;
      let oldestMs = nowMs;
      for (const one of waiting) {
        changes += one.changes;
        oldestMs = Math.min(oldestMs, one.sinceMs);
      }
      this.#outbox(account, changes);
      this.#lag(account, (nowMs - oldestMs) / 1_000);
    }
  }
  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.#registry] });
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.#registry] });
  }

  /** Sets the number of an account. */
  #accountGauge(name: string, help: string): (account: string, value: number) => void {
    const gauge = new Gauge({ name, help, labelNames: ['account'], registers: [this.#registry] });
    const bounded = new BoundedLabels();
    return (account, value) => gauge.set(bounded.bound({ account }), value);
  }

  #histogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name, help, buckets, registers: [this.#registry] });
  }
}
