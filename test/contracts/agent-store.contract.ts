import { describe, expect, it } from 'vitest';
import {
  getClaimableTurn,
  getTurn,
  idleAfterMs,
  idleIntervalMs,
  useRememberedMs,
} from '#caching/scheduling/caching-agent-schedule.ts';
import { LeaseLostError } from '#tasks/task.ts';
import { type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import {
  type AgentBench,
  add,
  claim,
  find,
  leaseMs,
  newSpec,
  openAgents,
  openWithAgent,
  removeAgents,
  success,
  tryClaim,
} from './agent-bench.ts';
import { testAgentFreshness } from './agent-freshness.contract.ts';
import { testAgentTurns } from './agent-turns.contract.ts';
import { countRequests } from './cache-bench.ts';
import { type CountCases, largeText, repeatEveryWrite, type StoreEngine } from './store-bench.ts';

/** What every DynamoDB must do for agents. `getEngine` is called inside the tests. */
export function testAgentStore(
  name: string,
  getEngine: () => StoreEngine,
  countCases: CountCases = chooseSize,
): void {
  const open = (clock?: TestClock): AgentBench => openAgents(getEngine(), clock);

  describe(`agent store on ${name}`, () => {
    testAgentTurns(open, countCases);
    testAgentFreshness(open);

    describe('a run', () => {
      it('shows what it amounted to', async () => {
        const { bench, spec } = await openWithAgent(open);
        bench.clock.advance(5_000);
        const { lease } = await claim(bench, spec);
        expect(await find(bench, spec)).toMatchObject({
          attempts: 1,
          lease: { owner: lease.owner, untilMs: lease.startedAtMs + leaseMs },
        });

        const nextRunMs = getTurn(spec, bench.clock.now()) + spec.intervalMs;
        const agent = await bench.store.finish(lease, success(nextRunMs));

        expect(agent).toEqual(await find(bench, spec));
        expect(agent).toMatchObject({ ...spec, nextRunMs, attempts: 0, failures: 0, lastTurn: lease.turn });
        expect(agent.lease).toBeUndefined();
        expect(agent.lastRun).toMatchObject({ outcome: 'SUCCESS', durationMs: 12, items: 3, changes: 1 });
        expect(agent.lastRun?.lagMs).toBeGreaterThanOrEqual(5_000);
        expect(agent.lastRun?.startedAtMs).toBe(lease.startedAtMs);
      });

      it('that failed shows why, also after later ones that did not', async () => {
        const { bench, spec } = await openWithAgent(open);
        const failed = {
          ...success(0),
          outcome: 'FAILURE',
          error: `timed out ${'!'.repeat(9_000)}`,
        } as const;
        for (const failures of [1, 2]) {
          const { lease } = await claim(bench, spec);
          expect(await bench.store.finish(lease, failed)).toMatchObject({ failures });
          bench.clock.advance(spec.intervalMs);
        }
        const { lease } = await claim(bench, spec);
        const agent = await bench.store.finish(lease, success(0));
        expect(agent).toMatchObject({ failures: 0, lastRun: { outcome: 'SUCCESS' } });
        expect(agent.lastError?.message).toMatch(/^timed out !/);
        expect(agent.lastError?.message).toHaveLength(2_000);
      });

      it('ends once, though the answers of its writes are lost', async () => {
        const { bench, spec } = await openWithAgent(open);
        repeatEveryWrite(bench.documents);
        const { lease } = await claim(bench, spec);
        await bench.store.renew(lease);
        await bench.store.commitState(lease, 'half');
        const failed = { ...success(0), outcome: 'FAILURE', state: 'whole' } as const;
        expect(await bench.store.finish(lease, failed)).toMatchObject({ failures: 1, attempts: 0 });
        bench.clock.advance(spec.intervalMs);
        expect(await (await claim(bench, spec)).readState()).toBe('whole');
      });

      it('without changes is two updates of one item', async () => {
        const { bench, spec } = await openWithAgent(open);
        const requests = countRequests(bench.documents);
        const { lease, readState } = await claim(bench, spec);
        await readState();
        await bench.store.finish(lease, success(0));
        expect(requests.take()).toEqual({ UpdateItem: 2 });
      });
    });

    describe('what a run leaves for the next one', () => {
      it('may be small or large, and replaces what was there', async () => {
        const { bench, spec } = await openWithAgent(open);
        const states = ['', '{"pod":"17"}', largeText(3e5), largeText(8e5), 'small', largeText(2e4)];
        for (const state of states) {
          const { lease, readState } = await claim(bench, spec);
          await bench.store.commitState(lease, `${await readState()} and more`);
          await bench.store.finish(lease, success(0, { state }));
          bench.clock.advance(spec.intervalMs);
          const next = await claim(bench, spec);
          expect(await next.readState()).toBe(state);
          const chunks = await bench.table.query(`AGENT-STATE#${spec.account}#core`);
          expect(chunks.length).toBe(
            state.length < 4_096 ? 0 : Math.ceil((state.length * 0.75) / 350 / 1024),
          );
          await bench.store.finish(next.lease, success(0));
          bench.clock.advance(spec.intervalMs);
        }
        expect(await (await claim(bench, spec)).readState()).toBe(states.at(-1));
      });

      it('is not touched by a worker that lost its lease', async () => {
        const { bench, spec } = await openWithAgent(open);
        const first = await claim(bench, spec);
        bench.clock.advance(leaseMs + 1);
        const second = await claim(bench, spec);
        const state = largeText(1e5);
        await bench.store.commitState(second.lease, state);

        await expect(bench.store.commitState(first.lease, largeText(1e5))).rejects.toThrow(LeaseLostError);
        await expect(bench.store.finish(first.lease, success(0, { state: 'late' }))).rejects.toThrow(
          LeaseLostError,
        );
        await bench.store.finish(second.lease, success(0));
        await expect(bench.store.finish(second.lease, success(0, { state: largeText(1e5) }))).rejects.toThrow(
          LeaseLostError,
        );
        bench.clock.advance(spec.intervalMs);
        expect(await (await claim(bench, spec)).readState()).toBe(state);
        expect(await bench.table.query(`AGENT-STATE#${spec.account}#core`)).toHaveLength(1);
      });

      it('is not handed out when a part of it is missing', async () => {
        const { bench, spec } = await openWithAgent(open);
        const { lease } = await claim(bench, spec);
        await bench.store.finish(lease, success(0, { state: largeText(1e5) }));
        const [chunk] = await bench.table.query(`AGENT-STATE#${spec.account}#core`);
        await bench.table.delete({ pk: String(chunk?.['pk']), sk: String(chunk?.['sk']) });
        bench.clock.advance(spec.intervalMs);
        await expect((await claim(bench, spec)).readState()).rejects.toThrow('is not whole');
      });
    });

    describe('wake()', () => {
      it('brings the next run of an idle account forward, and is a write each five minutes', async () => {
        const bench = open();
        const spec = newSpec();
        await add(bench, spec, newSpec());
        bench.clock.advance(idleAfterMs);
        const { lease } = await claim(bench, spec);
        await bench.store.finish(lease, success(getTurn(spec, bench.clock.now() + idleIntervalMs)));
        const requests = countRequests(bench.documents);

        const [woken, ...others] = await bench.store.wake(spec.account);
        expect(others).toEqual([]);
        expect(woken?.nextRunMs).toBeLessThanOrEqual(bench.clock.now() + spec.intervalMs);
        expect(woken?.usedAtMs).toBeGreaterThan(bench.clock.now() - 5_000);
        expect(requests.take()).toEqual({ Query: 1, UpdateItem: 2 });
        expect(await bench.store.wake(spec.account)).toEqual([]);
        expect(requests.take()).toEqual({});
        expect(await open(bench.clock).store.wake(spec.account)).toEqual([]);

        bench.clock.advance(useRememberedMs + 1_000);
        expect(await bench.store.wake(spec.account)).toEqual([]);
        expect(requests.take()).toEqual({ Query: 1, UpdateItem: 1 });
      });

      it('that comes while an idle account is run makes the next run come soon', async () => {
        const { bench, spec } = await openWithAgent(open);
        bench.clock.advance(idleAfterMs);
        const { lease } = await claim(bench, spec);
        await open(bench.clock).store.wake(spec.account);
        const agent = await bench.store.finish(lease, success(bench.clock.now() + idleIntervalMs));
        expect(agent.nextRunMs).toBeLessThanOrEqual(bench.clock.now() + spec.intervalMs);
        expect(await find(bench, spec)).toEqual(agent);
      });

      it('leaves an agent alone that fails', async () => {
        const { bench, spec } = await openWithAgent(open);
        bench.clock.advance(idleAfterMs);
        const { lease } = await claim(bench, spec);
        const nextRunMs = bench.clock.now() + 600_000;
        await bench.store.finish(lease, { ...success(nextRunMs), outcome: 'FAILURE', error: 'x' });
        expect(await bench.store.wake(spec.account)).toEqual([]);
        expect(await find(bench, spec)).toMatchObject({ nextRunMs });
      });
    });

    describe('sync()', () => {
      it('adds what is missing, and adapts what is there', async () => {
        const bench = open();
        const specs = Array.from({ length: 40 }, () => newSpec());
        const others = (await bench.store.list()).filter((agent) => agent.removedAtMs === undefined);
        const { added, agents } = await bench.store.sync([...others, ...specs]);
        expect(added).toHaveLength(40);
        const own = agents.filter(({ account }) => specs.some((spec) => spec.account === account));
        expect(own).toHaveLength(40);
        expect(own).toContainEqual(await find(bench, own[0] ?? newSpec()));
        const requests = countRequests(bench.documents);
        const again = await bench.store.sync([...others, ...specs]);
        expect(requests.take()).toEqual({ Query: 16 });
        expect(again.added).toEqual([]);
        expect(again.agents).toHaveLength(agents.length);

        const [spec = newSpec()] = specs;
        await bench.store.sync([...others, ...specs, { ...spec, intervalMs: 5_000 }]);
        expect(await find(bench, spec)).toMatchObject({ intervalMs: 5_000 });
      });

      it('takes out of service what is not wanted, and whoever runs it loses it', async () => {
        const { bench, spec } = await openWithAgent(open);
        const { lease } = await claim(bench, spec);
        await bench.store.commitState(lease, largeText(1e5));

        const removed = await removeAgents(bench, spec);
        expect(removed.filter(({ account }) => account === spec.account)).toHaveLength(1);
        await expect(bench.store.renew(lease)).rejects.toThrow(LeaseLostError);
        await expect(bench.store.finish(lease, success(0))).rejects.toThrow(LeaseLostError);
        expect(await tryClaim(bench, spec)).toBeUndefined();

        await bench.store.forget(spec);
        expect(await find(bench, spec)).toBeUndefined();
        expect(await bench.table.query(`AGENT-STATE#${spec.account}#core`)).toEqual([]);
        expect(await tryClaim(bench, spec)).toBeUndefined();
      });

      it('lets begin anew what is wanted again', async () => {
        const { bench, spec } = await openWithAgent(open);
        const { lease } = await claim(bench, spec);
        await bench.store.finish(lease, success(0, { state: 'position' }));
        await removeAgents(bench, spec);
        await add(bench, spec);
        bench.clock.advance(spec.intervalMs);

        const { agent, readState } = await claim(bench, spec);
        expect(agent.removedAtMs).toBeUndefined();
        expect(await readState()).toBeUndefined();
        await bench.store.forget(spec);
        expect(await find(bench, spec)).toBeDefined();
      });

      it('tells agents apart whatever they are called', async () => {
        const bench = open();
        const id = testRandomness.id();
        const specs = [
          ['a#b', 'c'],
          ['a', 'b#c'],
          ['a', ''],
          ['é😀', 'x'.repeat(900)],
        ].map(([account, name]) => newSpec({ account: `${id}${account}`, name: name ?? '' }));
        await add(bench, ...specs);
        const own = (await bench.store.list()).filter(({ account }) => account.startsWith(id));
        expect(new Set(own.map(({ account, name }) => `${account} ${name}`)).size).toBe(4);
        for (const spec of specs) expect(await claim(bench, spec)).toMatchObject({ agent: spec });
      });
    });

    it('lets nobody share a worker with an agent of which one died', async () => {
      const { bench, spec } = await openWithAgent(open);
      const how = () => ({
        ...{ owner: testRandomness.id(), leaseMs, isShared: true },
        turn: getClaimableTurn(spec, bench.clock.now()),
      });
      const first = await bench.store.claim(spec, how());
      expect(first).toBeDefined();
      expect(await bench.store.claim(spec, how())).toBeUndefined();
      bench.clock.advance(leaseMs + 1);
      expect(await bench.store.claim(spec, how())).toBeUndefined();
      const { lease } = await claim(bench, spec);
      await bench.store.finish(lease, success(0));
      bench.clock.advance(spec.intervalMs);
      expect(await bench.store.claim(spec, how())).toBeDefined();
    });

    it('hands a run over to who is named, with what it left and no gap', async () => {
      const { bench, spec } = await openWithAgent(open);
      const first = await claim(bench, spec);
      bench.clock.advance(900_000);
      await bench.store.commitState(first.lease, 'so far', { items: 7, changes: 2, asOfMs: 5 });
      const take = (handedOverBy: string) => {
        const how = { owner: 'successor', turn: 0, leaseMs, demanded: true, handedOverBy };
        return bench.store.claim(spec, how);
      };
      expect(await take('somebody else')).toBeUndefined();
      const answer = await take(first.lease.owner);
      if (answer === undefined) throw new Error('the agent could not be claimed');
      const { agent, lease, readState } = answer;
      expect(agent).toMatchObject({ attempts: 1, asOfMs: 5, progress: { items: 7, changes: 2 } });
      expect(lease).toMatchObject({ owner: 'successor', lagMs: 0 });
      expect(await readState()).toBe('so far');
      await expect(bench.store.renew(first.lease)).rejects.toThrow(LeaseLostError);
      await expect(bench.store.commitState(first.lease, 'late')).rejects.toThrow(LeaseLostError);
      expect(await take(first.lease.owner)).toBeUndefined();
      await bench.store.renew(lease);
    });

    it('is given anew to whom the answer never reached, and his older claims come too late', async () => {
      const { bench, spec } = await openWithAgent(open);
      const ask = async (owner: string, askedMs: number) => {
        const claimed = await bench.store.claim(spec, { owner, turn: 0, leaseMs, demanded: true, askedMs });
        return claimed?.lease;
      };
      const unheard = await ask('agent', 10);
      expect(await ask('another', 11)).toBeUndefined();
      const lease = await ask('agent', 12);
      if (unheard === undefined || lease === undefined) throw new Error('the agent could not be claimed');
      expect(await ask('agent', 11)).toBeUndefined();
      expect(await ask('agent', 12)).toBeUndefined();
      await expect(bench.store.renew(unheard)).rejects.toThrow(LeaseLostError);
      await bench.store.renew(lease);
      expect(await find(bench, spec)).toMatchObject({ attempts: 1, lease: { owner: 'agent' } });
    });

    it('runs on demand what is not due, but not what somebody runs', async () => {
      const { bench, spec } = await openWithAgent(open);
      const { lease } = await claim(bench, spec);
      const demand = () =>
        bench.store.claim(spec, {
          owner: testRandomness.id(),
          turn: getClaimableTurn(spec, bench.clock.now()),
          leaseMs,
          demanded: true,
        });
      expect(await demand()).toBeUndefined();
      await bench.store.finish(lease, success(bench.clock.now() + 60_000));
      const answer = await demand();
      if (answer === undefined) throw new Error('the agent could not be claimed');
      const nextRunMs = getTurn(spec, bench.clock.now()) + spec.intervalMs;
      await bench.store.finish(answer.lease, success(nextRunMs));
      expect(await tryClaim(bench, spec)).toBeUndefined();
      bench.clock.advance(nextRunMs - bench.clock.now());
      await claim(bench, spec);
    });
  });
}
