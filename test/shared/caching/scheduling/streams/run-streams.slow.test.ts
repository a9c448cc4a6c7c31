import { describe, expect, it } from 'vitest';
import { streamLeaseMs } from '#caching/scheduling/streams/stream-worker.ts';
import { ScriptedAgent, type StreamBench, useStreams } from './stream-bench.ts';

const open = useStreams();

/** Two agents, and a worker that watches both. */
async function begin(count = 2) {
  const agents = Array.from({ length: count }, () => new ScriptedAgent());
  const bench = await open(agents);
  const worker = bench.start(agents);
  await bench.until(() => agents.every(({ running }) => running === 1));
  const [one, other] = agents as [ScriptedAgent, ScriptedAgent];
  return { bench, worker, agents, one, other };
}

async function readState(bench: StreamBench, agent: ScriptedAgent): Promise<string | undefined> {
  const options = { owner: 'reader', turn: 0, leaseMs: 1_000, demanded: true };
  const answer = await bench.store.claim(agent, options);
  if (answer === undefined) throw new Error('the agent could not be claimed');
  return answer.readState();
}

describe('a worker that watches agents', () => {
  it('holds them for its whole life, and shows how far they have come', async () => {
    const { bench, worker, one, other } = await begin();
    one.tell('1 change', { asOfMs: 1_000 });
    await bench.until(async () => (await bench.find(one)).asOfMs === 1_000);
    one.tell('2 changes', { asOfMs: 2_000, items: 4 });
    await bench.until(async () => (await bench.find(one)).progress?.changes === 2);
    expect(await bench.find(one)).toMatchObject({ asOfMs: 2_000, progress: { items: 4 } });

    bench.lagsMs.length = 0;
    const endsAtMs = bench.clock.now() + 3 * streamLeaseMs;
    await bench.until(() => bench.clock.now() > endsAtMs);
    expect(Math.max(...bench.lagsMs)).toBeGreaterThan(bench.clock.now() - 2_000 - 3 * streamLeaseMs);
    for (const agent of [one, other]) {
      expect(agent).toMatchObject({ begun: [undefined], running: 1 });
      expect((await bench.find(agent)).lease?.untilMs).toBeGreaterThan(bench.clock.now());
    }
    await worker.stop();
  });

  it('leaves them to others as soon as its time is over', async () => {
    const { bench, worker, one } = await begin();
    one.tell('1 change');
    await worker.stop();
    expect(one.running).toBe(0);
    expect(await bench.find(one)).toMatchObject({ lease: undefined, lastRun: { outcome: 'STOPPED' } });
    expect(await readState(bench, one)).toBe('the end');
    expect(await bench.queue.receive()).toEqual([]);
  });

  it('proves at once, and stores, what somebody waits for, and asks once for each demand', async () => {
    const { bench, worker, one, other } = await begin();
    const proofs: string[] = [];
    for (const agent of [one, other]) agent.tell('1 change', { asOfMs: 1_000 });
    await bench.until(async () => (await bench.find(one)).asOfMs === 1_000);
    const offer = (agent: ScriptedAgent, asOfMs: number): void =>
      agent.offerProof(async () => {
        proofs.push(agent.account);
        agent.tell('1 change', { asOfMs });
      });
    offer(one, 5_000);
    offer(other, 5_000);
    // On a busy machine the clock outruns a renewal, and there is no lease for a moment.
    let owner = '';
    await bench.until(async () => {
      owner = (await bench.find(one)).lease?.owner ?? '';
      return owner !== '';
    });
    await bench.store.demand(owner, one.account, 5_000);
    const demandedAtMs = bench.clock.now();
    await bench.until(async () => (await bench.find(one)).asOfMs === 5_000);
    expect(bench.clock.now() - demandedAtMs).toBeLessThan(4_000);
    expect(proofs).toEqual([one.account]);

    // While a run goes on there is no proof: what it comes to counts, or else the watches after it are asked.
    one.offerProof(undefined);
    await bench.store.demand(owner, one.account, 7_000);
    await bench.until(() => bench.clock.now() > demandedAtMs + 10_000);
    one.tell('2 changes', { asOfMs: 6_000 });
    offer(one, 7_000);
    await bench.until(async () => (await bench.find(one)).asOfMs === 7_000);
    expect(proofs).toEqual([one.account, one.account]);
    await worker.stop();
  });

  it('loses an agent that is put into the other mode, and does not take one that is', async () => {
    const { bench, worker, one, other } = await begin();
    await bench.store.setMode(await bench.find(one), { mode: 'interval', reason: 'changes' });
    await bench.until(() => one.running === 0);
    expect(await bench.find(one)).toMatchObject({ lease: undefined, mode: { reason: 'changes' } });
    expect(other.running).toBe(1);
    await bench.start([one]).done;
    expect(one.begun).toHaveLength(1);
    const found = await bench.find(one);
    expect(found.lease).toBeUndefined();
    expect(found.nextRunMs).toBeLessThanOrEqual(bench.clock.now());
    await worker.stop();
  });

  it('is not held up by one that does not end', async () => {
    const { bench, worker, one } = await begin();
    await worker.stop();
    one.isObedient = false;
    const next = bench.start([one]);
    await bench.until(() => one.running === 1);
    one.tell('7 changes');
    let isDone = false;
    void next.stop().then(() => {
      isDone = true;
    });
    await bench.until(() => isDone);
    expect(await readState(bench, one)).toBe('7 changes');
  });

  it('shows why one fails, begins it anew after a pause where it was, and goes on with the others', async () => {
    const { bench, worker, one, other } = await begin();
    one.tell('1 change');
    await bench.until(async () => (await bench.find(one)).progress?.changes === 1);
    one.fail('the cluster is on fire');
    await bench.until(async () => (await bench.find(one)).failures === 1);
    const failed = await bench.find(one);
    expect(failed.lastError?.message).toBe('the cluster is on fire');
    expect(failed.lease).toBeUndefined();
    expect(bench.events).toMatchObject([
      { type: 'AgentRunCompleted', detail: { account: one.account, outcome: 'SUCCESS', changes: 1 } },
      { type: 'AgentRunCompleted', detail: { account: one.account, outcome: 'FAILURE', failures: 1 } },
    ]);
    // Until it begins anew nobody else is sent for.
    expect(failed.nextRunMs).toBeGreaterThan(bench.clock.now() + 60_000);
    expect(one.running).toBe(0);

    await bench.until(() => one.running === 1);
    expect(one.begun).toEqual([undefined, '1 change']);
    expect((await bench.find(one)).failures).toBe(1);
    one.tell('0 changes');
    // What was told ends a run in the store, and the lease of the next one comes right after it.
    await bench.until(async () => (await bench.find(one)).failures === 0);
    await bench.until(async () => ((await bench.find(one)).lease?.untilMs ?? 0) > bench.clock.now());
    expect(other.begun).toHaveLength(1);
    await worker.stop();
  });

  it('waits longer with each failure', async () => {
    const { bench, worker, one } = await begin();
    const pausesMs: number[] = [];
    for (const failures of [1, 2, 3]) {
      const failedAtMs = bench.clock.now();
      one.fail('no');
      await bench.until(() => one.begun.length === failures + 1);
      pausesMs.push(bench.clock.now() - failedAtMs);
    }
    expect(pausesMs[0]).toBeGreaterThanOrEqual(15_000);
    expect(pausesMs[1]).toBeGreaterThanOrEqual(30_000);
    expect(pausesMs[2]).toBeGreaterThanOrEqual(60_000);
    expect(pausesMs[2]).toBeLessThan(120_000);
    await worker.stop();
  });

  it('shows what cannot be read while the rest is watched, and that it can be again', async () => {
    const { bench, worker, one } = await begin();
    one.tell('1 change', { error: 'secrets: forbidden' });
    await bench.until(async () => (await bench.find(one)).failures === 1);
    expect((await bench.find(one)).lastError?.message).toBe('secrets: forbidden');
    one.tell('2 changes');
    await bench.until(async () => (await bench.find(one)).failures === 0);
    expect(one).toMatchObject({ begun: [undefined], running: 1 });
    await worker.stop();
    expect(await readState(bench, one)).toBe('the end');
  });

  it('watches none that another one watches, however often a message comes', async () => {
    const { bench, worker, agents } = await begin();
    await bench.start(agents).done;
    expect(agents.map(({ begun }) => begun.length)).toEqual([1, 1]);
    await worker.stop();
  });

  it('ends what no account wants any more, and what is not to be watched', async () => {
    const { bench, worker, agents, one, other } = await begin(3);
    worker.configured.delete(one.account);
    const deletedAtMs = bench.clock.now();
    await bench.until(() => one.running === 0);
    // Two seconds, and a step or two of the clock.
    expect(bench.clock.now() - deletedAtMs).toBeLessThan(6_000);
    await bench.until(async () => (await bench.find(one)).lease === undefined);
    other.mode = 'interval';
    worker.configured.set(other.account, other);
    await bench.until(() => agents.filter(({ running }) => running > 0).length === 2);
    await worker.stop();
  });

  it('watches an agent as it is configured now', async () => {
    const { bench, worker, one, other } = await begin();
    one.tell('1 change');
    const changed = new ScriptedAgent();
    Object.assign(changed, { account: one.account });
    worker.configured.set(one.account, changed);
    await bench.until(() => changed.running === 1);
    expect(one.running).toBe(0);
    expect(changed.begun).toEqual(['the end']);
    expect(other.begun).toHaveLength(1);
    await worker.stop();
  });

  it('ends what was taken out of service', async () => {
    const { bench, worker, one, other } = await begin();
    const rest = (await bench.store.list()).filter(({ account }) => account !== one.account);
    await bench.store.sync(rest);
    await bench.until(() => one.running === 0);
    expect(other.running).toBe(1);
    await worker.stop();
    expect((await bench.find(one)).removedAtMs).toBeDefined();
  });
});

describe('a hand-over', () => {
  it('leaves no gap: the successor begins before the predecessor ends', async () => {
    const { bench, worker, agents } = await begin();
    for (const agent of agents) agent.tell('1 change', { asOfMs: 10 });
    worker.handOver();
    const message = await bench.receive();
    expect(message.agents).toHaveLength(2);
    expect(agents.map(({ running }) => running)).toEqual([1, 1]);

    const successor = bench.start(agents, message);
    await bench.until(() => agents.every(({ running }) => running === 2));
    expect(agents.map(({ begun }) => begun)).toEqual([
      [undefined, '1 change'],
      [undefined, '1 change'],
    ]);
    await bench.until(() => agents.every(({ running }) => running === 1));
    await worker.done;
    for (const agent of agents) expect(await bench.find(agent)).toMatchObject({ attempts: 1, failures: 0 });
    await successor.stop();
    expect(agents.map(({ running }) => running)).toEqual([0, 0]);
  });

  it('may take long: the predecessor goes on until the end of its time', async () => {
    const { bench, worker, agents, one } = await begin();
    worker.handOver();
    const message = await bench.receive();
    const endsAtMs = bench.clock.now() + 2 * streamLeaseMs;
    await bench.until(() => bench.clock.now() > endsAtMs);
    expect(one.running).toBe(1);
    await worker.stop();

    const successor = bench.start(agents, message);
    await bench.until(() => agents.every(({ running }) => running === 1));
    await successor.stop();
  });

  it('finds the lease of the predecessor, who has only now read everything for the first time', async () => {
    const { bench, worker, one } = await begin(1);
    worker.handOver();
    const message = await bench.receive();
    one.tell('1 change', { asOfMs: 10 });
    await bench.until(async () => (await bench.find(one)).asOfMs === 10);
    // To tell how that went he would give the lease away for a moment, in which the successor may ask for it.
    expect((await bench.find(one)).lastRun).toBeUndefined();
    const successor = bench.start([one], message);
    await bench.until(() => one.begun.length === 2 && one.running === 1);
    await worker.done;
    await successor.stop();
  });

  it('works where the predecessor has died', async () => {
    const { bench, worker, agents } = await begin();
    worker.handOver();
    const message = await bench.receive();
    worker.kill();
    const successor = bench.start(agents, message);
    await bench.until(() => agents.every(({ begun }) => begun.length === 2));
    await successor.stop();
  });

  it('brings agents together of which each had a worker to itself', async () => {
    const agents = [new ScriptedAgent(), new ScriptedAgent(), new ScriptedAgent()];
    const bench = await open(agents);
    const [one, other, third] = agents as [ScriptedAgent, ScriptedAgent, ScriptedAgent];
    const both = [one, other].map(({ account, name }) => ({ account, name }));
    const large = bench.start(agents, { agents: both });
    const small = bench.start(agents, { agents: [{ account: third.account, name: third.name }] });
    await bench.until(() => agents.every(({ running }) => running === 1));

    large.handOver();
    const message = await bench.receive();
    const accounts = (of: readonly { readonly account: string }[]) => of.map(({ account }) => account).sort();
    expect(accounts(message.agents)).toEqual(accounts(agents));
    const successor = bench.start(agents, message);
    await bench.until(() => agents.every(({ running, begun }) => running === 1 && begun.length === 2));
    await Promise.all([large.done, small.done]);
    await successor.stop();
  });

  it('hands on what is in a pause, too', async () => {
    const { bench, worker, agents, one } = await begin();
    one.fail('no');
    await bench.until(() => one.running === 0);
    worker.handOver();
    const successor = bench.start(agents, await bench.receive());
    await bench.until(() => one.begun.length === 2 && agents.every(({ running }) => running === 1));
    await worker.done;
    await successor.stop();
  });
});

it('a worker that dies loses nothing but time: after its lease another one goes on where it was', async () => {
  const { bench, worker, agents, one } = await begin();
  one.tell('5 changes', { asOfMs: 77 });
  await bench.until(async () => (await bench.find(one)).progress?.changes === 5);
  worker.kill();
  const isOver = async () => ((await bench.find(one)).lease?.untilMs ?? 0) <= bench.clock.now();
  expect(await isOver()).toBe(false);
  await bench.until(isOver);
  const next = bench.start(agents);
  await bench.until(() => one.begun.length === 2);
  expect(one.begun[1]).toBe('5 changes');
  await next.stop();
});
