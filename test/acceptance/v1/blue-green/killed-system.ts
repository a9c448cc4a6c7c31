import { setTimeout as sleep } from 'node:timers/promises';
import { endLease } from '#test/support/engines/end-lease.ts';
import { sendTaskMessages } from '#test/support/engines/stores.ts';
import { drawInteger, type Random } from '#test/support/run/seeded-random.ts';
import type { System, SystemTask } from '#test/support/system/system.ts';

/** Milliseconds between two tries of a caller whose server is away, and between two looks at a task. */
const pauseMs = 50;
/** Milliseconds that a task may take in all, in which its process may die many times. */
const taskTimeoutMs = 240_000;
/** A process lives so long at most, milliseconds, and so much longer for each kill that a task has survived, which may have ten. */
const lifeMostMs = 900;
const patienceMs = 300;

/** A system whose process is killed now and then, as a caller sees it that never gives up. */
export class KilledSystem {
  readonly #system: System;
  #kills = 0;
  #diedAtMs = 0;
  /** Kills before each task that is open. */
  readonly #open = new Map<string, number>();

  constructor(system: System) {
    this.#system = system;
  }

  get kills(): number {
    return this.#kills;
  }

  /** Kills the process that many times, each time at a random moment of its life, and starts it again. */
  async keepKilling(times: number, random: Random): Promise<void> {
    for (let kill = 0; kill < times; kill += 1) {
      await sleep(drawInteger(random, 0, lifeMostMs + this.#countWorst() * patienceMs));
      await this.#system.kill('SIGKILL');
      this.#diedAtMs = Date.now();
      await this.#system.restart();
      this.#kills += 1;
    }
  }

  /** Posts an operation as Orca does, again with the same id until there is an answer, and waits for the end of its task. */
  async run(operation: string, description: object, requestId: string): Promise<SystemTask> {
    const killsBefore = this.#kills;
    const post = () =>
      this.#system.postOperations([{ [operation]: description }], { clientRequestId: requestId });
    const id = await this.#insist(post);
    this.#open.set(id, killsBefore);
    const task = await this.#waitForEnd(id, killsBefore);
    this.#open.delete(id);
    return task;
  }

  /** Most kills that a task has met which is still open: on a slow machine none would ever get through its first step. */
  #countWorst(): number {
    return Math.max(0, ...[...this.#open.values()].map((before) => this.#kills - before));
  }

  async #waitForEnd(id: string, killsBefore: number): Promise<SystemTask> {
    const endsAtMs = performance.now() + taskTimeoutMs;
    let killsSeen = killsBefore;
    for (;;) {
      const task = await this.#insist(async () => {
        const response = await this.#system.fetch(`/task/${id}`);
        return (await response.json()) as SystemTask;
      });
      if (task.status.completed) return task;
      if (performance.now() > endsAtMs) throw new Error(`Not completed: ${JSON.stringify(task)}`);
      const kills = this.#kills;
      if (kills !== killsSeen && (await this.#takeFromTheDead(id))) killsSeen = kills;
      await sleep(pauseMs);
    }
  }

  /** What a dead worker holds is free half a minute later: here at once. False when there is no system now. */
  async #takeFromTheDead(id: string): Promise<boolean> {
    try {
      const { stores } = this.#system;
      await endLease(stores, id, { diedAtMs: this.#diedAtMs });
      await sendTaskMessages(stores, id, 1);
      return true;
    } catch {
      return false;
    }
  }

  /** Tries until there is a system that answers. An answer that is not what it should be is an error at once. */
  async #insist<T>(act: () => Promise<T>): Promise<T> {
    const endsAtMs = performance.now() + taskTimeoutMs;
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!isAway(error) || performance.now() > endsAtMs) throw error;
      }
      await sleep(pauseMs);
    }
  }
}

/** `fetch` says so where nobody answers, or whoever did died meanwhile. */
function isAway(error: unknown): boolean {
  return error instanceof TypeError;
}
