import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockErrorMsMax } from '#core/clock.ts';
import { voidTaskLeases } from '#tasks/aws/void-leases.ts';
import { type Lease, LeaseLostError, leaseDurationMs } from '#tasks/task.ts';
import { createStandingClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { type LeaseAction, leaseModel, type ModelTask, newModelTask } from './lease-model.ts';
import type { CountCases, StoreBench } from './store-bench.ts';
import {
  entry,
  getKeys,
  hold,
  interrupt,
  newTask,
  openAccepted,
  openLeased,
  repeatEveryWrite,
  take,
} from './store-bench.ts';

/**
 * What every DynamoDB must do for leases, which live in the tasks' headers.
 *
 * @param open opens a store, called inside the tests; stores that are to see the same time get the same clock
 */
export function testLeases(open: (clock?: TestClock) => StoreBench, countCases: CountCases): void {
  describe('leases', () => {
    it('are held by one of many workers at a time', async () => {
      const { store, task } = await openAccepted(open);
      const workers = Array.from({ length: 20 }, (_, index) =>
        store.takeLease(task.id, { ownerId: `w${index}@h`, attempts: 1 }),
      );
      expect((await Promise.all(workers)).filter((lease) => lease !== undefined)).toHaveLength(1);
    });

    it('pass to another worker once they lapse, and shut the first one out', async () => {
      const { store, clock, task } = await openAccepted(open);
      const first = await take(store, task.id);

      clock.advance(leaseDurationMs + 1);
      const second = await take(store, task.id);

      expect(second.lease.fence).toBe(first.lease.fence + 1);
      expect(second.task.attempts).toBe(2);
      await expect(store.commit(first.lease, hold('late'))).rejects.toThrow(LeaseLostError);
      await expect(store.renewLease(first.lease)).rejects.toThrow(LeaseLostError);
      await store.commit(second.lease, hold('mine'));
      expect(await getKeys(store, task.id)).toEqual(['accept', 'mine']);
    });

    it('last as long as they are renewed', async () => {
      const { store, clock, task, lease } = await openLeased(open);
      for (let round = 0; round < 3; round += 1) {
        clock.advance(leaseDurationMs - 1000);
        await store.renewLease(lease);
      }
      expect(await store.takeLease(task.id, { ownerId: 'other@h', attempts: 1 })).toBeUndefined();
    });

    it('are not given for a finished or unknown task', async () => {
      const { store, task, lease } = await openLeased(open);
      await store.commit(lease, { entries: [], next: 'COMPLETED' });

      expect(await store.takeLease(task.id, { ownerId: 'x@h', attempts: 1 })).toBeUndefined();
      expect(await store.takeLease('NOSUCHTASK', { ownerId: 'x@h', attempts: 1 })).toBeUndefined();
    });

    it('hold for the worker from before he asked, however long the answer took', async () => {
      const { store, clock, documents, task } = await openAccepted(open);
      const answerLate = (): void =>
        interrupt(documents, { command: /Update/, when: 'afterwards' }, () => clock.advance(5_000));

      answerLate();
      const takenAt = clock.monotonic();
      const { lease } = await take(store, task.id);
      expect(lease.validUntil).toBe(takenAt + leaseDurationMs);

      answerLate();
      const renewedAt = clock.monotonic();
      await store.renewLease(lease);
      expect(lease.validUntil).toBe(renewedAt + leaseDurationMs);

      answerLate();
      const committedAt = clock.monotonic();
      await store.commit(lease, hold('one'));
      expect(lease.validUntil).toBe(committedAt + leaseDurationMs);
    });

    it('are not given to who took one whose answer was lost, on a task that was failed meanwhile', async () => {
      const { store, documents, clock, task } = await openAccepted(open);
      interrupt(documents, { command: /Update/, when: 'afterwards' }, () =>
        open(clock).store.fail(task.id, 'FAILED_RETRYABLE', entry('ended')),
      );
      expect(await store.takeLease(task.id, { ownerId: 'w@h', attempts: 1 })).toBeUndefined();
    });

    it('are not given on a task that is failed while its long journal is read', async () => {
      const { store, documents, clock, task, lease } = await openLeased(open);
      const value = testRandomness.id().repeat(3_000);
      await store.commit(lease, { entries: [{ ...entry('one'), value }], next: 'release' });
      interrupt(documents, { command: /Query/, when: 'before' }, () =>
        open(clock).store.fail(task.id, 'FAILED', entry('ended')),
      );

      expect(await store.takeLease(task.id, { ownerId: 'w@h', attempts: 1 })).toBeUndefined();
    });

    it('of a worker whose clock was wrong hold others up no longer than one can, and are fenced', async () => {
      const hours = 3 * 3_600_000;
      const cases = { numRuns: countCases({ short: 10, long: 20 }) };
      const check = async (aheadMs: number): Promise<void> => {
        const { store, clock, task } = await openAccepted(open);
        const wrong = open({ ...clock, now: () => clock.now() + aheadMs });
        const { lease } = await take(wrong.store, task.id);
        const owner = { ownerId: 'right@h', attempts: 1 };
        let second = await store.takeLease(task.id, owner);
        if (second === undefined) clock.advance(leaseDurationMs + clockErrorMsMax + 1);
        second ??= await store.takeLease(task.id, owner);
        expect(second?.lease.fence).toBe(2);
        await expect(wrong.store.renewLease(lease)).rejects.toThrow(LeaseLostError);
      };
      await fc.assert(fc.asyncProperty(fc.integer({ min: -hours, max: hours }), check), cases);
    });

    it('of workers end when a process begins that knows that none lives, and those of agents do not', async () => {
      const { store, table, clock, task } = await openLeased(open);
      const own = await store.accept({ ...newTask(), inbox: { account: 'account', waitMs: 60_000 } });
      const agent = await take(store, own.task.id);
      await voidTaskLeases({ table, clock });
      expect((await take(store, task.id)).task.attempts).toBe(2);
      expect(await store.takeLease(own.task.id, { ownerId: 'x@h', attempts: 1 })).toBeUndefined();
      await store.renewLease(agent.lease);
    });

    it('stay given up when a renewal comes late', async () => {
      const { store, task, lease } = await openLeased(open);
      await store.commit(lease, { entries: [], next: 'checkpoint' });

      await expect(store.renewLease(lease)).rejects.toThrow(LeaseLostError);
      expect((await take(store, task.id)).lease.fence).toBe(2);
    });

    it('are given back by a task that waits, which nobody takes before it is to be looked at again', async () => {
      const { store, clock, task } = await openAccepted(open);
      const { lease } = await take(store, task.id, 4);
      await store.commit(lease, { entries: [], next: 'wait', lookSeconds: 15 });

      expect(await store.takeLease(task.id, { ownerId: 'early@h', attempts: 1 })).toBeUndefined();
      await expect(store.renewLease(lease)).rejects.toThrow(LeaseLostError);
      await expect(store.commit(lease, hold('late'))).rejects.toThrow(LeaseLostError);
      clock.advance(15_000);
      expect((await take(store, task.id, 1)).task.attempts).toBe(1);
    });

    it('take a checkpoint for progress, too', async () => {
      const { store, task } = await openAccepted(open);
      const { lease } = await take(store, task.id, 4);
      await store.commit(lease, { entries: [], next: 'checkpoint' });
      expect((await take(store, task.id, 1)).task.attempts).toBe(1);
    });

    it('count attempts until there is progress', async () => {
      const { store, task } = await openAccepted(open);
      const first = await take(store, task.id, 4);
      await store.commit(first.lease, { entries: [], next: 'release' });
      const second = await take(store, task.id, 1);
      expect(second.task.attempts).toBe(5);
      await store.commit(second.lease, { entries: [entry('step')], next: 'release' });

      expect((await take(store, task.id, 1)).task.attempts).toBe(1);
    });

    it('go round by round to exactly one of two workers that race for them, under a higher fence', async () => {
      const one = open();
      const other = open(one.clock);
      const { task } = await one.store.accept(newTask());
      for (let fence = 1; fence <= 10; fence += 1) {
        const claims = await Promise.all(
          [one, other].map(({ store }) =>
            store.takeLease(task.id, { ownerId: testRandomness.id(), attempts: 1 }),
          ),
        );
        const won = claims.filter((claim) => claim !== undefined);
        expect(won.map(({ lease }) => lease.fence)).toEqual([fence]);
        one.clock.advance(leaseDurationMs + 1);
      }
    });

    it('behave as the model says, whatever workers do in whatever order', async () => {
      const actions = Object.keys(leaseModel) as LeaseAction[];
      const step = fc.record({
        worker: fc.integer({ min: 0, max: 1 }),
        // Most of what happens should happen to a task that somebody runs.
        action: fc.constantFrom(...actions, 'take' as const, 'take' as const, 'wait' as const),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
          const { workers, id, clock } = await startWorkers(open);
          const model = newModelTask();
          for (const [index, { worker: number, action }] of steps.entries()) {
            const worker = workers[number];
            if (worker === undefined || (needsLease(action) && worker.lease === undefined)) continue;
            const key = `${index} ${action}`;
            const expected = leaseModel[action]({ task: model, fence: worker.lease?.fence ?? 0, key });
            expect(await act({ worker, action, key, id, clock })).toBe(expected);
            if (action === 'take' && expected) expect(worker.lease?.fence).toBe(model.fence);
            await expectTask({ worker, id, clock }, model);
          }
        }),
        { numRuns: countCases({ short: 20, long: 40 }) },
      );
    });

    it('let in every answered commit once and no refused one, however two workers overlap', async () => {
      const actions: LeaseAction[] = ['take', 'take', 'commit', 'commit', 'renew', 'checkpoint', 'wait'];
      const program = fc.array(fc.constantFrom(...actions), { minLength: 5, maxLength: 15 });
      await fc.assert(
        fc.asyncProperty(program, program, async (lossy, sound) => {
          const workplace = await startWorkers(open);
          const [one, other] = await Promise.all([
            runProgram({ ...workplace, number: 0 }, lossy),
            runProgram({ ...workplace, number: 1 }, sound),
          ]);

          const [, ...keys] = await getKeys(open(workplace.clock).store, workplace.id);
          expect(keys).toEqual(expect.arrayContaining([...one.answered, ...other.answered]));
          expect(keys.filter((key) => other.refused.includes(key))).toEqual([]);
          expect(new Set(keys).size).toBe(keys.length);
          const fencesOfKeys = keys.map((key) => Number.parseInt(key, 10));
          expect(fencesOfKeys).toEqual(fencesOfKeys.toSorted((first, second) => first - second));
          const fences = [...one.fences, ...other.fences];
          expect(new Set(fences).size).toBe(fences.length);
        }),
        { numRuns: countCases({ short: 10, long: 20 }) },
      );
    });
  });
}

/** A worker with a connection of its own, and the last lease that it took, which may be worth nothing any more. */
interface Worker {
  readonly store: StoreBench['store'];
  lease: Lease | undefined;
}

interface Workplace {
  readonly workers: readonly Worker[];
  readonly id: string;
  readonly clock: TestClock;
}

/** Two workers and an accepted task. The first worker loses the first answer to each of its writes. */
async function startWorkers(open: (clock?: TestClock) => StoreBench): Promise<Workplace> {
  const clock = createStandingClock();
  const benches = [open(clock), open(clock)] as const;
  repeatEveryWrite(benches[0].documents);
  const task = newTask();
  await benches[1].store.accept(task);
  return { workers: benches.map(({ store }) => ({ store, lease: undefined })), id: task.id, clock };
}

/** What became of a worker's actions. */
interface ProgramResult {
  /** Fences under which it got the lease. */
  readonly fences: number[];
  /** Journal keys, which start with the fence, of commits that were answered. */
  readonly answered: string[];
  /** And of those that were refused. Where the first answer was lost such a commit may have been made all the same. */
  readonly refused: string[];
}

async function runProgram(
  { workers, number, ...workplace }: Workplace & { number: number },
  actions: readonly LeaseAction[],
): Promise<ProgramResult> {
  const result: ProgramResult = { fences: [], answered: [], refused: [] };
  const worker = workers[number];
  for (const [index, action] of actions.entries()) {
    if (worker === undefined || (needsLease(action) && worker.lease === undefined)) continue;
    const key = `${worker.lease?.fence}#${number}#${index}`;
    const done = await act({ ...workplace, worker, action, key });
    if (action === 'take' && done) result.fences.push(worker.lease?.fence ?? 0);
    if (action === 'commit') result[done ? 'answered' : 'refused'].push(key);
  }
  return result;
}

function needsLease(action: LeaseAction): boolean {
  return !['take', 'fail', 'restart', 'wait'].includes(action);
}

interface Act {
  readonly worker: Worker;
  readonly action: LeaseAction;
  readonly key: string;
  readonly id: string;
  readonly clock: TestClock;
}

/** Does it for real; false when the store refuses. */
async function act({ worker, action, key, id, clock }: Act): Promise<boolean> {
  const { store, lease } = worker;
  if (action === 'wait') clock.advance(leaseDurationMs * 0.55);
  if (action === 'fail') return (await store.fail(id, 'FAILED_RETRYABLE', entry(key))) !== undefined;
  if (action === 'restart') return (await store.restart(id, entry(key))) !== undefined;
  if (action === 'take') {
    const leased = await store.takeLease(id, { ownerId: testRandomness.id(), attempts: 1 });
    if (leased !== undefined) worker.lease = leased.lease;
    return leased !== undefined;
  }
  if (action === 'wait' || lease === undefined) return true;
  try {
    if (action === 'renew') await store.renewLease(lease);
    else if (action === 'commit') await store.commit(lease, hold(key));
    else if (action === 'complete') await store.commit(lease, { entries: [entry(key)], next: 'COMPLETED' });
    else if (action === 'putDown') await store.commit(lease, { entries: [], next: 'wait', lookSeconds: 15 });
    else await store.commit(lease, { entries: [], next: action });
    return true;
  } catch (error) {
    if (error instanceof LeaseLostError) return false;
    throw error;
  }
}

async function expectTask(
  { worker, id, clock }: Pick<Act, 'worker' | 'id' | 'clock'>,
  model: ModelTask,
): Promise<void> {
  const task = await worker.store.find(id);
  expect({
    state: task?.state,
    attempts: task?.attempts,
    run: task?.run,
    isHeld: (task?.leaseUntilMs ?? 0) > clock.now(),
    keys: task?.journal.map(({ key }) => key),
  }).toEqual({
    state: model.state,
    attempts: model.attempts,
    run: model.run,
    isHeld: model.waits > 0,
    keys: model.keys,
  });
}
