import { describe, expect, it } from 'vitest';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { pickGuests } from '#caching/scheduling/streams/pack-streams.ts';
import {
  cachingAgentsPerStream,
  parseStreamMessage,
  type StreamMessage,
  startStreams,
} from '#caching/scheduling/streams/stream-queue.ts';

const nowMs = 1_000_000;

function toAgent(account: string, changes: Partial<StoredCachingAgent> = {}): StoredCachingAgent {
  return {
    ...{ account, name: 'core', provider: 'kubernetes', intervalMs: 30_000, lastTurn: 0 },
    ...{ nextRunMs: nowMs, attempts: 1, failures: 0, usedAtMs: 0, lease: undefined },
    ...changes,
  };
}

/** Agents that a worker watches. */
function watch(
  owner: string,
  count: number,
  changes: Partial<StoredCachingAgent> = {},
): StoredCachingAgent[] {
  const lease = { owner, untilMs: nowMs + 1 };
  return Array.from({ length: count }, (_, index) => toAgent(`${owner}-${index}`, { lease, ...changes }));
}

async function send(agents: readonly StoredCachingAgent[], areWorkersDead = false): Promise<string[][]> {
  const sent: StreamMessage[] = [];
  await startStreams({ send: async (message) => void sent.push(message) }, agents, { nowMs, areWorkersDead });
  return sent.map((message) => message.agents.map(({ account }) => account));
}

describe('messages for agents that nobody watches', () => {
  it('name up to 50 each', async () => {
    const agents = Array.from({ length: 2 * cachingAgentsPerStream + 1 }, (_, index) => toAgent(`a${index}`));
    const sent = await send(agents);
    expect(sent.map(({ length }) => length)).toEqual([50, 50, 1]);
    expect(sent.flat()).toEqual(agents.map(({ account }) => account));
  });

  it('leave out those in a pause, and name those alone of which workers died', async () => {
    const paused = toAgent('paused', { nextRunMs: nowMs + 1, failures: 1 });
    const deadly = toAgent('deadly', { attempts: 2 });
    expect(await send([toAgent('a'), deadly, paused, toAgent('b')])).toEqual([['deadly'], ['a', 'b']]);
    expect(await send([paused])).toEqual([]);
    expect(await send([{ ...paused, nextRunMs: nowMs }])).toEqual([['paused']]);
  });

  it('name what was run by turns until now, whenever its next turn would be', async () => {
    expect(await send([toAgent('switched', { nextRunMs: nowMs + 30_000 })])).toEqual([['switched']]);
  });

  it('leave out those that somebody watches, unless he is known to be dead', async () => {
    const agents = [toAgent('free'), ...watch('somebody', 1)];
    expect(await send(agents)).toEqual([['free']]);
    expect(await send(agents, true)).toEqual([['free', 'somebody-0']]);
  });

  it('are read as they were sent, and not taken for something else', () => {
    const agents = [
      { account: 'a', name: 'core' },
      { account: 'b', name: 'core', handedOverBy: 'x@y' },
    ];
    expect(parseStreamMessage({ agents, more: 1 })).toEqual({ agents });
    for (const body of [{}, [], null, { agents: [] }, { agents: [{ account: 'a' }] }, { agents: 'a' }]) {
      expect(parseStreamMessage(body)).toBeUndefined();
    }
  });
});

describe('what a successor takes along', () => {
  const isWatched = () => true;
  const pick = (agents: readonly StoredCachingAgent[], ownCount: number) => {
    const guests = pickGuests(agents, { owner: 'm', ownCount, nowMs, isWatched });
    return Object.entries(Object.groupBy(guests, ({ handedOverBy = '' }) => handedOverBy)).map(
      ([owner, group]) => `${owner} ${group?.length}`,
    );
  };

  it('are the agents of smaller workers, each as a whole, as long as they fit', () => {
    const agents = [...watch('m', 30), ...watch('b', 15), ...watch('c', 4), ...watch('d', 3)];
    expect(pick(agents, 30)).toEqual(['d 3', 'c 4']);
    expect(pick([...watch('m', 10), ...watch('b', 11)], 10)).toEqual([]);
  });

  it('go one way only between workers of one size', () => {
    expect(pick([...watch('a', 5), ...watch('z', 5)], 5)).toEqual(['a 5']);
  });

  it('are none that are dead, of which workers died, or that are not to be watched', () => {
    const dead = watch('b', 2, { lease: { owner: 'b', untilMs: nowMs } });
    expect(pick([...dead, ...watch('c', 1, { attempts: 2 })], 10)).toEqual([]);
    const options = { owner: 'm', ownCount: 10, nowMs, isWatched: () => false };
    expect(pickGuests(watch('b', 2), options)).toEqual([]);
  });
});
