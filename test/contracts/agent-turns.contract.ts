import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCacheOwner } from '#caching/scheduling/cache-owner.ts';
import {
  getClaimableTurn,
  getNextRunMs,
  getTurn,
  idleIntervalMs,
  retryDelayMs,
} from '#caching/scheduling/caching-agent-schedule.ts';
import {
  type CachingAgentSpec,
  type ClaimedCachingAgent,
  isHeld,
} from '#caching/scheduling/caching-agent-store.ts';
import { clockErrorMsMax } from '#core/clock.ts';
import { LeaseLostError } from '#tasks/task.ts';
import type { TestClock } from '#test/support/run/test-clock.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';
import {
  type AgentBench,
  add,
  claim,
  find,
  leaseMs,
  newSpec,
  openWithAgent,
  success,
  tryClaim,
} from './agent-bench.ts';
import { type AgentAction, agentModel, type ModelAgent } from './agent-model.ts';
import { type CountCases, repeatEveryWrite } from './store-bench.ts';

/**
 * What every DynamoDB must do for the turns and leases of agents.
 *
 * @param open opens a store, called inside the tests; stores that are to see the same time get the same clock
 */
export function testAgentTurns(open: (clock?: TestClock) => AgentBench, countCases: CountCases): void {
  describe('turns', () => {
    it('go to one of twenty workers', async () => {
      const { bench, spec } = await openWithAgent(open);
      const answers = await Promise.all(Array.from({ length: 20 }, () => tryClaim(bench, spec)));
      expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1);
    });

    it('are not skipped by a message that comes early', async () => {
      const { bench, spec } = await openWithAgent(open);
      const { lease } = await claim(bench, spec);
      const nextRunMs = getTurn(spec, bench.clock.now()) + spec.intervalMs;
      await bench.store.finish(lease, success(nextRunMs));

      for (const earlyMs of [20_000, 10_000, 1_500]) {
        bench.clock.advance(Math.max(0, nextRunMs - earlyMs - bench.clock.now()));
        expect(await tryClaim(bench, spec)).toBeUndefined();
      }
      bench.clock.advance(nextRunMs - bench.clock.now());
      expect((await claim(bench, spec)).lease.turn).toBe(nextRunMs);
    });

    it('are run once each, and are over once they were', async () => {
      const { bench, spec } = await openWithAgent(open);
      const { lease } = await claim(bench, spec);
      await bench.store.finish(lease, success(0));
      const again = { owner: 'x@h', turn: lease.turn, leaseMs };
      expect(await bench.store.claim(spec, again)).toBeUndefined();
    });

    it('are not ended by an earlier run of the same worker', async () => {
      const { bench, spec } = await openWithAgent(open);
      const claimAgain = async () => {
        const answer = await bench.store.claim(spec, {
          owner: 'same@host',
          turn: getClaimableTurn(spec, bench.clock.now()),
          leaseMs,
        });
        return answer?.lease;
      };
      const first = await claimAgain();
      bench.clock.advance(leaseMs + 1);
      const second = await claimAgain();
      if (first === undefined || second === undefined) throw new Error('no lease');
      await expect(bench.store.finish(first, success(0))).rejects.toThrow(LeaseLostError);
      await bench.store.finish(second, success(0));
    });

    it.each([5_000, 30_000, 3_600_000])(
      'are delayed by a worker that dies by its lease at most, at an interval of %i ms',
      async (intervalMs) => {
        const { bench, spec } = await openWithAgent(open, { intervalMs });
        const dead = await claim(bench, spec);
        bench.clock.advance(leaseMs - 1_000);
        expect(await tryClaim(bench, spec)).toBeUndefined();

        bench.clock.advance(1_001);
        const next = await claim(bench, spec);
        expect(next.agent.attempts).toBe(2);
        expect(next.lease.fence).toBe(dead.lease.fence + 1);
        await expect(bench.store.finish(dead.lease, success(0))).rejects.toThrow(LeaseLostError);
      },
    );

    it('of an agent whose interval is changed go on', async () => {
      const { bench, spec } = await openWithAgent(open, { intervalMs: 5_000 });
      for (const intervalMs of [5_000, 600_000, 5_000, 30_000]) {
        await add(bench, { ...spec, intervalMs });
        bench.clock.advance(intervalMs);
        const { lease } = await claim(bench, { ...spec, intervalMs });
        await bench.store.finish(lease, success(bench.clock.now() + 1));
      }
    });

    it('come again after each start, however the clock was set and whatever became of the run before', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(start, { minLength: 3, maxLength: 6 }), async (starts) => {
          const { bench, spec } = await openWithAgent(open);
          for (const each of starts) await startAt(bench, spec, each);
        }),
        { numRuns: countCases({ short: 20, long: 40 }) },
      );
    });

    it('of an agent in its cluster go on when a process begins', async () => {
      const { bench, spec } = await openWithAgent(open);
      const turn = getClaimableTurn(spec, bench.clock.now());
      const remote = await bench.store.claim(spec, { owner: toCacheOwner('agent'), turn, leaseMs });
      if (remote === undefined) throw new Error('no lease');
      await bench.store.voidLeases();
      expect(await tryClaim(bench, spec)).toBeUndefined();
      await bench.store.renew(remote.lease);
    });

    it('behave as the model says, whatever workers do in whatever order', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
          const workplace = await startWorkplace(open);
          for (const each of steps) await doStep(workplace, each);
        }),
        { numRuns: countCases({ short: 20, long: 40 }) },
      );
    });

    it('are held by one worker at a time, however two overlap and whatever answers are lost', async () => {
      const actions = fc.constantFrom<AgentAction>('claim', 'claim', 'renew', 'finish', 'fail', 'wait');
      const program = fc.array(actions, { minLength: 5, maxLength: 15 });
      await fc.assert(
        fc.asyncProperty(program, program, async (lossy, sound) => {
          const { workers, spec, clock } = await startWorkplace(open);
          if (workers[0]) repeatEveryWrite(workers[0].bench.documents);
          const runs = await Promise.all(
            [lossy, sound].map((program, index) =>
              runProgram({ worker: workers[index], spec, clock }, program),
            ),
          );

          const fences = runs.flatMap((run) => run.fences);
          expect(new Set(fences).size).toBe(fences.length);
          const turns = runs.flatMap((run) => run.endedTurns);
          expect(new Set(turns).size).toBe(turns.length);
        }),
        { numRuns: countCases({ short: 10, long: 20 }) },
      );
    });
  });
}

/** A process that begins on a machine whose clock was set meanwhile, and how its run ends. */
const start = fc.record({
  setByMs: fc.integer({ min: -7_200_000, max: 7_200_000 }),
  end: fc.constantFrom('SUCCESS', 'FAILURE', 'death'),
});

/** Begins as `npm start` does, and runs the agent once, which must be let run within its longest pause. */
async function startAt(
  bench: AgentBench,
  spec: CachingAgentSpec,
  { setByMs, end }: typeof start extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> {
  const { store, clock } = bench;
  const before = await find(bench, spec);
  clock.advance(setByMs);
  await store.voidLeases();
  await store.sync([...(await store.list()).filter(({ removedAtMs }) => removedAtMs === undefined)]);
  const agent = await find(bench, spec);
  expect(isHeld({ lease: agent?.lease }, clock.now())).toBe(false);
  clock.advance((before?.failures ?? 0) > 0 ? retryDelayMs.most : idleIntervalMs);
  clock.advance(clockErrorMsMax);
  const { lease } = await claim(bench, spec);
  if (end === 'death') return;
  const failures = end === 'FAILURE' ? (before?.failures ?? 0) + 1 : 0;
  const pace = { nowMs: clock.now(), turn: lease.turn, usedAtMs: clock.now(), failures, fraction: 0.5 };
  const nextRunMs = getNextRunMs(spec, pace);
  await store.finish(lease, success(nextRunMs, end === 'FAILURE' ? { outcome: end, error: 'failed' } : {}));
}

const step = fc.record({
  worker: fc.nat(1),
  action: fc.constantFrom<AgentAction>(
    ...(['claim', 'claim', 'claim', 'renew', 'commit', 'finish', 'finish', 'fail', 'demand'] as const),
    ...(['wake', 'wait', 'wait'] as const),
  ),
  /** How long a wait takes. */
  waitMs: fc.integer({ min: 0, max: 1.2 * leaseMs }),
  /** How much later than the next turn, or earlier, a run says that the next one is to be. */
  nextInMs: fc.integer({ min: -10_000, max: 60_000 }),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A worker with a connection of its own, and what it claimed last, which may be worth nothing any more. */
interface Worker {
  readonly bench: AgentBench;
  claimed: ClaimedCachingAgent | undefined;
}

interface Workplace {
  readonly workers: readonly Worker[];
  readonly spec: CachingAgentSpec;
  readonly clock: TestClock;
  readonly model: ModelAgent;
}

async function startWorkplace(open: (clock?: TestClock) => AgentBench): Promise<Workplace> {
  const bench = open();
  const { clock } = bench;
  const spec = newSpec();
  await bench.store.sync([
    ...(await bench.store.list()).filter((one) => one.removedAtMs === undefined),
    spec,
  ]);
  const agent = await find(bench, spec);
  return {
    workers: [bench, open(clock)].map((bench) => ({ bench, claimed: undefined })),
    spec,
    clock,
    model: {
      ...{ fence: 0, leaseUntilMs: 0, isRunning: false, lastTurn: 0, attempts: 0, failures: 0 },
      ...{ nextRunMs: agent?.nextRunMs ?? 0, state: undefined },
    },
  };
}

/** Does something for real and in the model, and compares what is to be seen. */
async function doStep({ workers, spec, clock, model }: Workplace, step: Step): Promise<void> {
  const worker = workers[step.worker];
  const needsClaim = !['claim', 'demand', 'wake', 'wait'].includes(step.action);
  if (worker === undefined || (needsClaim && worker.claimed === undefined)) return;
  if (step.action === 'wait') clock.advance(step.waitMs);
  const nowMs = clock.now();
  const turn = getClaimableTurn(spec, nowMs);
  const nextRunMs = nowMs + step.nextInMs;
  const state = `left at ${nowMs}`;
  const held = worker.claimed?.lease;
  const expected = agentModel[step.action]({ agent: model, nowMs, leaseMs, turn, held, nextRunMs, state });
  expect(await act(worker, { ...step, spec, turn, nextRunMs, state })).toBe(expected);
  const agent = await find(worker.bench, spec);
  if (step.action === 'wake' && agent !== undefined && agent.nextRunMs < model.nextRunMs) {
    expect(agent.nextRunMs).toBeGreaterThanOrEqual(nowMs);
    model.nextRunMs = agent.nextRunMs;
  }
  expect(agent).toMatchObject({
    lastTurn: model.lastTurn,
    nextRunMs: model.nextRunMs,
    attempts: model.attempts,
    failures: model.failures,
  });
  expect(agent?.lease?.untilMs).toBe(model.isRunning ? model.leaseUntilMs : undefined);
  if (step.action === 'claim' && expected) expect(await worker.claimed?.readState()).toBe(model.state);
}

interface Act extends Pick<Step, 'action'> {
  readonly spec: CachingAgentSpec;
  readonly turn: number;
  readonly nextRunMs: number;
  readonly state: string;
}

/** Does it for real; false when the store refuses. */
async function act(worker: Worker, { action, spec, turn, nextRunMs, state }: Act): Promise<boolean> {
  const { store } = worker.bench;
  if (action === 'claim' || action === 'demand') {
    const how = { owner: `${testRandomness.id()}@test`, turn, leaseMs, demanded: action === 'demand' };
    const answer = await store.claim(spec, how);
    if (answer !== undefined) worker.claimed = answer;
    return answer !== undefined;
  }
  if (action === 'wake') await store.wake(spec.account);
  const lease = worker.claimed?.lease;
  if (action === 'wake' || action === 'wait' || lease === undefined) return true;
  try {
    if (action === 'renew') await store.renew(lease);
    else if (action === 'commit') await store.commitState(lease, state);
    else {
      const failed = { outcome: 'FAILURE', error: 'failed' } as const;
      await store.finish(lease, success(nextRunMs, action === 'finish' ? { state } : failed));
      worker.claimed = undefined;
    }
    return true;
  } catch (error) {
    if (error instanceof LeaseLostError) return false;
    throw error;
  }
}

/** What became of a worker's actions. */
interface ProgramResult {
  readonly fences: number[];
  readonly endedTurns: number[];
}

async function runProgram(
  { worker, spec, clock }: { worker: Worker | undefined; spec: CachingAgentSpec; clock: TestClock },
  actions: readonly AgentAction[],
): Promise<ProgramResult> {
  const result: ProgramResult = { fences: [], endedTurns: [] };
  for (const action of actions) {
    if (worker === undefined || (!['claim', 'wait'].includes(action) && worker.claimed === undefined))
      continue;
    if (action === 'wait') clock.advance(leaseMs * 0.55);
    const turn = getClaimableTurn(spec, clock.now());
    const before = worker.claimed?.lease;
    const done = await act(worker, { action, spec, turn, nextRunMs: clock.now(), state: action });
    const after = worker.claimed?.lease;
    if (action === 'claim' && done && after !== undefined) result.fences.push(after.fence);
    if (before !== undefined && after === undefined) result.endedTurns.push(before.turn);
  }
  return result;
}
