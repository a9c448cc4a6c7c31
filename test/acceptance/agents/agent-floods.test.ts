import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTokenSigner, type TokenSigner, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld, type World } from '../../support/agents/agent-world.ts';
import { connectForHints } from '../../support/agents/hint-socket.ts';
import { callRaw, openRawAgent, type RawAgent, type RawAnswer } from '../../support/agents/raw-agent.ts';

const testMs = 180_000;

/** What one process lets in within any second, and a number that is far beyond it. */
const perSecond = 25;
const crowd = 200;

/** Senders of a flood, each of which asks again as soon as it is answered. */
const senders = 12;

const stack = new AsyncDisposableStack();
let signer: TokenSigner;
let world: World;
let url: string;
beforeAll(async () => {
  signer = await createTokenSigner();
  world = stack.use(await startWorld([toAgentAccount('edge', signer)]));
  url = world.system.url;
}, testMs);
afterAll(() => stack.disposeAsync());

const hello = {
  ...{ agentId: 'stranger', version: '1', protocol: 1, journalFormat: 1 },
  accounts: [{ name: 'edge' }],
};

/** Asks without an end, until it is disposed of. What was answered is counted. */
function flood(ask: (token: string | undefined) => Promise<string | number>) {
  const answers = new Map<string | number, number>();
  let isOver = false;
  const send = async (sender: number): Promise<void> => {
    while (!isOver) {
      const answer = await ask(sender % 2 === 0 ? undefined : 'no-token');
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  const sending = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
  return {
    answers,
    count: () => [...answers.values()].reduce((sum, each) => sum + each, 0),
    async [Symbol.asyncDispose]() {
      isOver = true;
      await sending;
    },
  };
}

/** The code with which a connection is closed, or the status that it is refused with. */
async function tryToConnect(token: string | undefined): Promise<string | number> {
  try {
    using socket = await connectForHints(url, token);
    return await socket.closed;
  } catch (error) {
    return String(error);
  }
}

const openSession = (token: string | undefined): Promise<RawAnswer> =>
  callRaw(url, {
    ...{ method: 'POST', target: '/agent/v1/sessions', body: hello },
    ...(token !== undefined && { token }),
  });

/** A session, as soon as others leave a place for it. */
async function openWhenAdmitted(): Promise<RawAgent> {
  return vi.waitFor(() => openRawAgent(url, signer, { agentId: 'patient', accounts: ['edge'] }), {
    ...{ timeout: 60_000, interval: 500 },
  });
}

test(
  'strangers who ask for sessions without an end keep no agent from its own',
  async () => {
    await using strangers = flood(async (token) => (await openSession(token)).status);
    for (let round = 1; round <= 5; round += 1) {
      await expect.poll(strangers.count, { timeout: 60_000 }).toBeGreaterThan(round * 4 * perSecond);
      const agent = await openRawAgent(url, signer, { agentId: `agent-${round}`, accounts: ['edge'] });
      using socket = await connectForHints(url, agent.token);
      socket.send('{"v":1,"t":"ping","n":1}');
      await socket.waitFor(({ t }) => t === 'pong');
    }
    expect([...strangers.answers.keys()]).toEqual([401]);
  },
  testMs,
);

test(
  'strangers who connect without an end keep no agent from its connection',
  async () => {
    const agent = await openRawAgent(url, signer, { agentId: 'connecting', accounts: ['edge'] });
    await using strangers = flood(tryToConnect);
    for (let round = 1; round <= 5; round += 1) {
      await expect.poll(strangers.count, { timeout: 60_000 }).toBeGreaterThan(round * 4 * perSecond);
      using socket = await connectForHints(url, agent.token);
      socket.send('{"v":1,"t":"ping","n":1}');
      await socket.waitFor(({ t }) => t === 'pong');
    }
    expect([...strangers.answers.keys()]).toEqual([4401]);
  },
  testMs,
);

test(
  'agents that prove who they are get so many sessions within a second, and the others another second to come again',
  async () => {
    const token = await signer.sign();
    const startedMs = performance.now();
    const answers = await Promise.all(Array.from({ length: crowd }, () => openSession(token)));
    const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
    const statuses = Map.groupBy(answers, ({ status }) => status);
    expect(statuses.get(200)?.length).toBeLessThanOrEqual(perSecond * (seconds + 1));
    const refused = statuses.get(503) ?? [];
    expect((statuses.get(200)?.length ?? 0) + refused.length).toBe(crowd);
    // Some come no further than the door, where too many wait at a time.
    const gated = refused.filter(({ body }) => String(body['message']).includes('agents connect'));
    const told = gated.map(({ headers }) => Number(headers.get('retry-after')));
    expect(told.every((each) => each >= 1 && each <= 60)).toBe(true);
    // As many are told one second as are let in within it.
    const together = [...Map.groupBy(told, (each) => each).values()].map(({ length }) => length);
    expect(Math.max(0, ...together)).toBeLessThanOrEqual(perSecond * (seconds + 1));
  },
  testMs,
);

test(
  'agents that have a session get so many connections within a second',
  async () => {
    const { token } = await openWhenAdmitted();
    const startedMs = performance.now();
    const outcomes = await Promise.all(
      Array.from({ length: crowd }, async () => {
        try {
          using _ = await connectForHints(url, token);
          return 'connected';
        } catch (error) {
          return String(error);
        }
      }),
    );
    const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
    const connected = outcomes.filter((each) => each === 'connected').length;
    expect(connected).toBeLessThanOrEqual(perSecond * (seconds + 1));
    expect(outcomes.filter((each) => each.includes('503')).length).toBe(crowd - connected);
  },
  testMs,
);
