import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import type { CachingAgentMessage } from '#caching/scheduling/caching-agent-queue.ts';
import { cachingAgentLeaseMs } from '#caching/scheduling/caching-agent-schedule.ts';
import { overdueAfterMs } from '#caching/scheduling/due-caching-agents.ts';
import type { ScheduleReport } from '#caching/scheduling/schedule-turns.ts';
import { createScheduleMemory, scheduleTurns } from '#caching/scheduling/schedule-turns.ts';
import { touchAccounts } from '#caching/scheduling/touch-accounts.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import type { PendingMessage, TestAgentSystem } from '#test/support/agents/agent-system.ts';
import { hang, newAgent, openAgentSystem, takes } from '#test/support/agents/agent-system.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();

const intervalMs = 30_000;

/** The scheduler comes each minute. */
const turnMs = 60_000;

/** What SQS hides a message for that a worker has: its row's. */
const hiddenMs = 360_000;

/** What becomes of each message that is sent, and of each that a worker takes; then of each run. */
const fate = fc.record({
  sends: fc.array(fc.constantFrom('kept', 'kept', 'kept', 'kept', 'kept', 'lost', 'doubled', 'late'), {
    minLength: 5,
    maxLength: 30,
  }),
  takes: fc.array(fc.constantFrom('lives', 'lives', 'lives', 'lives', 'dies', 'answer lost'), {
    minLength: 5,
    maxLength: 20,
  }),
  runs: fc.array(fc.constantFrom('quick', 'quick', 'quick', 'slow', 'fails', 'lists', 'hangs'), {
    minLength: 5,
    maxLength: 30,
  }),
  /** What becomes of each turn of the scheduler. A new process knows nothing of what the one before has sent. */
  schedules: fc.array(fc.constantFrom('comes', 'comes', 'comes', 'left out', 'late', 'anew', 'twice'), {
    minLength: 5,
    maxLength: 10,
  }),
  demands: fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 6 }),
});

type Fate = typeof fate extends fc.Arbitrary<infer T> ? T : never;

interface Run {
  readonly id: string;
  readonly beganMs: number;
  endedMs?: number;
  readonly death: AbortSignal | undefined;
}

/** Agents whose workers die, and whose messages get lost, doubled and late, for as long as it is told. */
class Trouble {
  readonly runs: Run[] = [];
  isOver = false;
  readonly #system: TestAgentSystem;
  readonly #fate: Fate;
  readonly #counts = { sends: 0, takes: 0, runs: 0, schedules: 0 };
  #death: AbortSignal | undefined;

  constructor(system: TestAgentSystem, fate: Fate) {
    this.#system = system;
    this.#fate = fate;
    system.wanted = Array.from({ length: 5 }, (_, index) => this.#makeAgent(`${index}`));
    system.onSend = (pending) => this.#send(pending);
    const { work } = system;
    system.work = (message) => this.#take(message, work);
    const { schedule } = system;
    system.schedule = (ended) => this.#schedule(schedule, ended);
  }

  #next<K extends 'sends' | 'takes' | 'runs' | 'schedules'>(kind: K, calm: Fate[K][number]): Fate[K][number] {
    const all: readonly Fate[K][number][] = this.#fate[kind];
    this.#counts[kind] += 1;
    return this.isOver ? calm : (all[this.#counts[kind] % all.length] ?? calm);
  }

  #makeAgent(name: string): CachingAgent {
    const { clock } = this.#system;
    return newAgent({ account: 'all', name, intervalMs, timeoutMs: 50_000 }, async (run) => {
      const begun: Run = { id: name, beganMs: clock.now(), death: this.#death };
      this.runs.push(begun);
      const conduct = this.#next('runs', 'quick');
      try {
        if (conduct === 'hangs') return await hang();
        await takes(clock, conduct === 'slow' ? 20_000 : 500, run);
        if (conduct === 'fails') throw new Error('it fails');
        return { outcome: conduct === 'lists' && !run.isAlone ? 'listing' : 'done' };
      } finally {
        begun.endedMs = clock.now();
      }
    });
  }

  #send(pending: PendingMessage): void {
    const becomes = this.#next('sends', 'kept');
    const late = { ...pending, comesMs: pending.comesMs + 20_000 };
    if (becomes !== 'lost') this.#system.pending.push(becomes === 'late' ? late : pending);
    if (becomes === 'doubled') this.#system.pending.push(late);
  }

  async #schedule(
    schedule: TestAgentSystem['schedule'],
    ended: AbortSignal | undefined,
  ): Promise<ScheduleReport> {
    const becomes = this.#next('schedules', 'comes');
    if (becomes === 'left out') return { added: 0, removed: 0, overdue: 0, forgotten: 0 };
    if (becomes === 'late') await this.#system.clock.sleep(25_000, ended);
    if (becomes === 'twice') await schedule();
    if (becomes === 'comes' || becomes === 'late') return schedule();
    return scheduleTurns(this.#system, { wanted: this.#system.wanted, memory: createScheduleMemory() });
  }

  async #take(message: CachingAgentMessage, work: TestAgentSystem['work']): Promise<void> {
    const becomes = this.#next('takes', 'lives');
    const death = new AbortController();
    const again = { message, comesMs: this.#system.clock.now() + hiddenMs };
    if (becomes !== 'lives') this.#system.pending.push(again);
    this.#death = death.signal;
    if (becomes === 'dies') void this.#system.clock.sleep(300).then(() => death.abort());
    await work(message, { death: death.signal });
  }
}

/** Whether a run went on when the next one of its agent began, though nobody died, and no time was over. */
function findOverlaps(runs: readonly Run[]): Run[] {
  const isOver = (run: Run, atMs: number): boolean =>
    run.death?.aborted === true || (run.endedMs ?? run.beganMs + 52_000) <= atMs;
  return runs.filter((run, index) =>
    runs.some((other, at) => at > index && other.id === run.id && !isOver(run, other.beganMs)),
  );
}

it('of agents come again and do not multiply, whatever becomes of workers, messages and the scheduler', async () => {
  await fc.assert(
    fc.asyncProperty(fate, async (fate) => {
      const system = openAgentSystem(open(cacheTable));
      await system.clear();
      const trouble = new Trouble(system, fate);
      for (const seconds of fate.demands) {
        void system.clock.sleep(seconds * 1_000).then(() => {
          const message = {
            agents: [{ account: 'all', name: '1' }],
            dueMs: system.clock.now(),
            isDemanded: true,
          };
          system.pending.push({ message, comesMs: system.clock.now() });
        });
      }
      await system.live(7 * 60_000);
      expect(findOverlaps(trouble.runs)).toEqual([]);

      trouble.isOver = true;
      const calmMs = system.clock.now();
      await touchAccounts(system, ['all']);
      const healthy = (await system.agents.list()).filter(
        ({ failures, attempts, nextRunMs }) =>
          failures === 0 && attempts < 2 && nextRunMs > calmMs - intervalMs,
      );
      // Nobody waits longer than for a lease, and for the scheduler to miss him.
      await system.live(cachingAgentLeaseMs + turnMs + overdueAfterMs + intervalMs);
      for (const { name } of healthy) {
        const own = trouble.runs.filter(({ id, beganMs }) => id === name && beganMs > calmMs);
        expect(own.length, `runs of ${name}`).toBeGreaterThan(0);
      }
      // Back-off ends, and what is left of old messages comes again, and does nothing.
      for (let times = 0; times < 3; times += 1) {
        await system.live(hiddenMs - turnMs);
        await touchAccounts(system, ['all']);
      }
      await system.live(4 * turnMs);
      const from = trouble.runs.length;
      const sent = system.sent.length;
      system.lags.length = 0;
      await system.live(4 * turnMs - 1_000);
      const runs = Map.groupBy(trouble.runs.slice(from), ({ id }) => id);
      expect(runs.size).toBe(5);
      for (const [name, own] of runs) expect(own.length, `turns of ${name}`).toBe(8);
      expect(Math.max(...system.lags)).toBeLessThanOrEqual(1_000);
      // One message for all of a turn: what was torn apart is together again.
      expect(system.sent.slice(sent).every(({ message }) => message.agents.length === 5)).toBe(true);
      expect(system.sent.length - sent).toBeLessThanOrEqual(5 * 2);
    }),
    { numRuns: 3, endOnFailure: true },
  );
}, 300_000);
