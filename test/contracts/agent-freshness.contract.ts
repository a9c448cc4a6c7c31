import { describe, expect, it } from 'vitest';
import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import { idleIntervalMs } from '#caching/scheduling/caching-agent-schedule.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import type { AgentBench } from './agent-bench.ts';
import { add, claim, find, newSpec, openWithAgent, removeAgents, success, tryClaim } from './agent-bench.ts';

/** What every DynamoDB must do for what is told of runs, and how fresh caches are. `open` is called inside the tests. */
export function testAgentFreshness(open: (clock?: TestClock) => AgentBench): void {
  describe('what a run tells', () => {
    it('is seen while it goes on, and its as-of stays', async () => {
      const { bench, spec } = await openWithAgent(open);
      const { lease } = await claim(bench, spec);
      const progress = { items: 7, changes: 2, asOfMs: 1_000, details: { kinds: 3 } };
      await bench.store.renew(lease, progress);
      expect(await find(bench, spec)).toMatchObject({ progress, asOfMs: 1_000 });
      await bench.store.renew(lease);
      expect(await find(bench, spec)).toMatchObject({ progress, asOfMs: 1_000 });

      await bench.store.finish(lease, success(0, { drift: 4, details: { forbidden: 'secret' } }));
      const agent = await find(bench, spec);
      expect(agent).toMatchObject({ asOfMs: 1_000, lastRun: { drift: 4, details: { forbidden: 'secret' } } });
      expect(agent?.progress).toBeUndefined();
    });

    it('of a failure moves the as-of, too, when that is known', async () => {
      const { bench, spec } = await openWithAgent(open);
      const { lease } = await claim(bench, spec);
      await bench.store.finish(lease, success(0, { outcome: 'FAILURE', error: 'half', asOfMs: 2_000 }));
      expect(await find(bench, spec)).toMatchObject({ asOfMs: 2_000, failures: 1 });
    });

    it('of one that was stopped leaves its turn, and counts neither as failed nor as well', async () => {
      const { bench, spec } = await openWithAgent(open);
      const failed = await claim(bench, spec);
      await bench.store.finish(failed.lease, success(0, { outcome: 'FAILURE', error: 'no' }));
      bench.clock.advance(spec.intervalMs);
      const stopped = await claim(bench, spec);
      const nowMs = bench.clock.now();
      const end = success(nowMs, { outcome: 'STOPPED', state: 'so far' });
      expect(await bench.store.finish(stopped.lease, end)).toMatchObject({ failures: 1, nextRunMs: nowMs });

      const again = await claim(bench, spec);
      expect(again.lease.turn).toBe(stopped.lease.turn);
      expect(await again.readState()).toBe('so far');
      expect(again.agent).toMatchObject({ attempts: 1, lastError: { message: 'no' } });
      await bench.store.finish(again.lease, success(0));
      expect(await tryClaim(bench, spec)).toBeUndefined();
    });
  });

  describe('readFreshness()', () => {
    it('takes no heed of an agent that caches nothing, but where it is the only one', async () => {
      const bench = open();
      const spec = newSpec();
      const other = { ...spec, name: 'looks after things' };
      await add(bench, spec, other);
      const { lease } = await claim(bench, other);
      const told = success(0, { asOfMs: 1_000, details: { cachesNothing: true } });
      await bench.store.finish(lease, told);
      await end(bench, spec, 9_000);
      const freshness = await bench.store.readFreshness([spec.account]);
      expect(freshness.get(spec.account)).toMatchObject({ asOfMs: 9_000, agents: [{ name: spec.name }] });

      const alone = newSpec();
      await add(bench, alone);
      await bench.store.finish((await claim(bench, alone)).lease, told);
      const left = await bench.store.readFreshness([alone.account]);
      expect(left.get(alone.account)).toMatchObject({ asOfMs: 1_000 });
    });

    async function end(bench: AgentBench, spec: ReturnType<typeof newSpec>, asOfMs?: number): Promise<void> {
      const { lease } = await claim(bench, spec);
      const details = { kinds: 3, tooLarge: 'pod a in shop, pod b in shop', tooLargeCount: 2 };
      const told = asOfMs === undefined ? {} : { asOfMs, details };
      await bench.store.finish(lease, success(bench.clock.now() + spec.intervalMs, told));
    }

    it('answers the least of what the agents of an account told, once each told something', async () => {
      const bench = open();
      const core = newSpec();
      const custom = { ...core, name: 'custom' };
      await add(bench, core, custom);
      const read = async () =>
        (await bench.store.readFreshness([core.account, 'unknown'])).entries().toArray();
      await end(bench, core, 5_000);
      expect(await read()).toMatchObject([
        [core.account, { asOfMs: undefined, triedAtMs: undefined, isStale: false }],
      ]);
      await end(bench, custom, 4_000);
      const agents = [core, custom].map(({ account, name }) => ({ account, name }));
      const triedAtMs = expect.any(Number);
      const told = { asOfMs: 4_000, isStale: false, tooLarge: 4, triedAtMs, agents };
      expect(await read()).toEqual([[core.account, told]]);

      await removeAgents(bench, core);
      expect(await read()).toEqual([]);
    });

    it('tells when the last run failed, or none came for two intervals', async () => {
      const { bench, spec } = await openWithAgent(open);
      const isStale = async () =>
        (await bench.store.readFreshness([spec.account])).get(spec.account)?.isStale;
      await end(bench, spec, 5_000);
      expect(await isStale()).toBe(false);
      bench.clock.advance(3 * spec.intervalMs + 1_000);
      expect(await isStale()).toBe(true);

      const { lease } = await claim(bench, spec);
      expect(await isStale()).toBe(false);
      const failed = success(bench.clock.now(), { outcome: 'FAILURE', error: 'no' });
      await bench.store.finish(lease, failed);
      expect(await isStale()).toBe(true);
    });
  });

  describe('wake()', () => {
    it('that failed is done again with the next use', async () => {
      const { bench, spec } = await openWithAgent(open);
      const { lease } = await claim(bench, spec);
      bench.clock.advance(20 * 60_000);
      await bench.store.finish(lease, success(bench.clock.now() + idleIntervalMs));
      const { documents, clock } = bench;
      let isAway = true;
      const flaky = Object.assign(Object.create(documents), {
        send: (command: never) => {
          if (isAway) throw new Error('DynamoDB is away');
          return documents.send(command);
        },
      });
      const parts = { documents: flaky, tableName: cacheTable.name, clock, randomness: testRandomness };
      const store = new DynamoCachingAgentStore(parts);
      await expect(store.wake(spec.account)).rejects.toThrow('DynamoDB is away');
      isAway = false;
      expect(await store.wake(spec.account)).toMatchObject([{ account: spec.account }]);
    });
  });
}
