import { formatMetrics, HistogramMetric, NumberMetric } from './metric-registry.ts';

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

const counter = (name: string, help: string) => new NumberMetric('counter', { name, help });
const gauge = (name: string, help: string, label?: string) =>
  new NumberMetric('gauge', { name, help, label });

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
  readonly #connections = gauge(
    'kubesvc_connection_count',
    'Sessions in which Busdriver answered the last call.',
  );
  readonly #disconnections = counter(
    'kubesvc_disconnection_total',
    'How often a session was lost, or Busdriver ceased to answer.',
  );
  readonly #events = counter('kubesvc_events_sent_total', 'Changes of objects that Busdriver has taken.');
  readonly #eventBytes = counter('kubesvc_events_bytes_sent_total', 'Bytes in which they were sent.');
  readonly #resources = gauge('kubesvc_resource_agent_total', 'Kinds that are watched or polled.', 'account');
  readonly #outbox = gauge(
    'busdriver_agent_outbox_changes',
    'Changes of objects that wait to be sent.',
    'account',
  );
  readonly #lag = gauge(
    'busdriver_agent_lag_seconds',
    'Age of the oldest change that waits to be sent.',
    'account',
  );
  readonly #batches = new HistogramMetric(
    { name: 'busdriver_agent_batch_seconds', help: 'Time until Busdriver had taken a batch of changes.' },
    batchBounds,
  );
  readonly #tasks = new HistogramMetric(
    { name: 'busdriver_agent_task_seconds', help: 'Time from the lease of a task until it was handed back.' },
    taskBounds,
  );
  readonly #runningTasks = gauge('busdriver_agent_tasks', 'Tasks that run.');
  readonly #runningReads = gauge('busdriver_agent_reads', 'Live reads that run.');
  readonly #memory = gauge('process_resident_memory_bytes', 'Resident memory size in bytes.');

  /** By account; of the second by caching agent, too. An agent has as many as its file. */
  readonly #waiting = new Map<string, Set<WaitingChanges>>();
  readonly #watches = new Map<string, Map<string, number>>();

  /** A session answers, or does so no more. */
  countConnection(isConnected: boolean): void {
    this.#connections.add(isConnected ? 1 : -1);
    if (!isConnected) this.#disconnections.add(1);
  }

  /** Busdriver took a batch. */
  countBatch({ changes, bytes, ms }: BatchFigures): void {
    this.#events.add(changes);
    this.#eventBytes.add(bytes);
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
    this.#resources.set(
      [...counts.values()].reduce((sum, each) => sum + each, 0),
      account,
    );
  }

  /** A task begins. @returns to be called once, when it ends */
  beginTask(): () => void {
    const beganMs = performance.now();
    this.#runningTasks.add(1);
    return () => {
      this.#runningTasks.add(-1);
      this.#tasks.observe((performance.now() - beganMs) / 1_000);
    };
  }

  /** A live read begins. @returns to be called once, when it ends */
  beginRead(): () => void {
    this.#runningReads.add(1);
    return () => this.#runningReads.add(-1);
  }

  /** All of it, in Prometheus' text format. */
  format(): string {
    this.#memory.set(process.memoryUsage.rss());
    this.#countWaiting();
    return formatMetrics([
      ...[this.#connections, this.#disconnections, this.#events, this.#eventBytes, this.#resources],
      ...[this.#outbox, this.#lag, this.#batches, this.#tasks, this.#runningTasks, this.#runningReads],
      this.#memory,
    ]);
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
      this.#outbox.set(changes, account);
      this.#lag.set((nowMs - oldestMs) / 1_000, account);
    }
  }
}
