import type { TaskSystem } from '#tasks/process-message.ts';
import type { TaskStore } from '#tasks/task.ts';
import { createMortalSystem } from '../system/task-system.ts';
import { type AnsweredCall, type CallWatch, type CloudCall, WorkerDeadError } from './operation-spec.ts';

/** What befalls a worker. */
export interface MortalWorkerOptions {
  /**
   * Dies right after that many commits and writes together, before it hears of the last one; 0 is before the first. Default: it
   * does not die.
   */
  readonly diesAfter?: number;
  /** What the cloud says to a call instead of doing it; see `CallWatch.before`. Default: it does all. */
  refuse?(call: CloudCall, body: unknown): string | undefined;
}

/**
 * A worker in this process that can die: from then on nothing of it reaches the store, the queue, the bus and the cloud, and it
 * hears nothing. It dies at a commit of the journal or at a write to the cloud, so between any two things that last.
 */
export class MortalWorker implements CallWatch {
  /** Its task system. */
  readonly system: TaskSystem;
  /** Calls that the cloud answered, in the order of the answers. */
  readonly calls: AnsweredCall[] = [];
  /** Resolves when it dies. */
  readonly death: Promise<void>;
  readonly #options: MortalWorkerOptions;
  readonly #kill: () => void;
  #isDead = false;
  #events = 0;

  constructor(system: TaskSystem, options: MortalWorkerOptions = {}) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const mortal = createMortalSystem({ ...system, store: this.#watchCommits(system.store) });
    this.system = mortal.system;
    this.death = promise;
    this.#options = options;
    this.#kill = () => {
      this.#isDead = true;
      mortal.kill();
      resolve();
    };
  }

  /** Whether it died. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** Commits and writes so far. */
  get events(): number {
    return this.#events;
  }

  before(call: CloudCall, body: unknown): string | undefined {
    if (call.isWrite) this.#dieBeforeFirst();
    if (this.#isDead) throw new WorkerDeadError();
    return this.#options.refuse?.(call, body);
  }

  after(call: AnsweredCall): boolean {
    this.calls.push(call);
    if (call.isWrite && call.isDone) this.#endEvent();
    return !this.#isDead;
  }

  #dieBeforeFirst(): void {
    if (this.#options.diesAfter === 0) this.#kill();
  }

  #endEvent(): void {
    this.#events += 1;
    if (this.#events === this.#options.diesAfter) this.#kill();
  }

  #watchCommits(store: TaskStore): TaskStore {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        if (name !== 'commit') return member.bind(target);
        return async (...parameters: unknown[]): Promise<unknown> => {
          this.#dieBeforeFirst();
          if (this.#isDead) return new Promise(() => undefined);
          const answer: unknown = await member.apply(target, parameters);
          this.#endEvent();
          return answer;
        };
      },
    });
  }
}
