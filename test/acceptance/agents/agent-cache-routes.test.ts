import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createTokenSigner, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startCachingWorld } from '../../support/agents/agent-world.ts';
import type { System } from '../../support/system/system.ts';

const testMs = 240_000;
const agentName = 'KubernetesCoreCachingAgent[1/1]';
const version = '123';

test(
  'agents write to the caches of their own accounts, and only what views can be made of',
  async () => {
    const [signer, other] = [await createTokenSigner(), await createTokenSigner('system:other')];
    const edge = { ...toAgentAccount('edge', signer), namespaces: ['shop'] };
    await using world = await startCachingWorld([edge, toAgentAccount('other', other)]);
    const { system } = world;
    const hello = {
      ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
      accounts: [{ name: 'edge' }],
    };
    const token = await signer.sign();
    const welcome = await call(system, { method: 'POST', target: '/agent/v1/sessions', token, body: hello });
    expect(welcome.body['accounts']).toMatchObject([{ name: 'edge', caching: true }]);
    const session = String(welcome.body['token']);
    const askOf = (account: string) => (method: string, what: string, body?: object | Uint8Array) =>
      call(system, { method, target: `/agent/v1/caches/${account}/${what}`, token: session, body });
    const ask = askOf('edge');

    // Nothing of another account, nor of one that there is not.
    const epochNow = Math.floor(Date.now() / 60_000);
    for (const account of ['other', 'no-such']) {
      for (const [method, what, body] of [
        ['POST', 'claims', { agent: agentName }],
        ['GET', 'epoch', undefined],
        ['PUT', 'epoch', { epoch: epochNow, cluster: '' }],
        ['GET', 'heads?kind=pod', undefined],
        ['POST', 'changes', { epoch: epochNow, changes: [] }],
        ['POST', 'prunes', { applications: [] }],
      ] as const) {
        const answer = await askOf(account)(method, what, body);
        expect([what, answer.status, answer.body['message']]).toEqual([
          what,
          403,
          `Account ${account} is none of this session`,
        ]);
      }
    }

    // An epoch of the far future would be one from which there is no way back.
    const far = await ask('PUT', 'epoch', { epoch: epochNow + 1_000, cluster: 'uid' });
    expect([far.status, String(far.body['errors'])]).toEqual([
      400,
      expect.stringMatching(/^epoch: expected \d+ at most/),
    ]);
    const early = await ask('POST', 'changes', { epoch: epochNow, changes: [toChange()] });
    expect(early.body['errors']).toEqual([`epoch: expected that it is raised first, got ${epochNow}`]);
    const raised = await ask('PUT', 'epoch', { epoch: epochNow, cluster: 'uid' });
    expect(raised.body['current']).toEqual({ epoch: epochNow, cluster: 'uid' });

    const bad: readonly (readonly [string, object, string])[] = [
      [
        'an epoch to come',
        { epoch: epochNow + 1 },
        `epoch: expected ${epochNow}, which is in force, got ${epochNow + 1}`,
      ],
      [
        'a kind that is a path',
        toBatch({ kind: '../secrets' }),
        "changes[1].kind: expected a kind, as 'replicaSet' or 'CronTab.example.com'",
      ],
      ['a name that is a path', toBatch({ name: 'a/b' }), 'changes[1].name: expected the name of an object'],
      ['no version', toBatch({ version: 'latest' }), 'changes[1].version: expected 1 to 19 digits'],
      ['a long version', toBatch({ version: '1'.repeat(20) }), 'changes[1].version: expected 1 to 19 digits'],
      ['a version beyond all', toBatch({ version: '9'.repeat(19) }), 'changes[1].version: resourceVersion'],
      [
        'a namespace that is closed',
        toBatch({ namespace: 'bank', facts: undefined }),
        "changes[1]: expected what the account may use, not pod in 'bank'",
      ],
      [
        'facts of another object',
        toBatch({ name: 'b' }),
        'changes[1].facts: expected those of pod b, not of another object',
      ],
      ['facts that are none', toBatch({ facts: 'x' }), 'changes[1].facts: expected JSON text'],
      ['facts with holes', toBatch({ facts: JSON.stringify({ ...facts, p: {} }) }), 'changes[1].facts: p.c:'],
      [
        'facts with more than facts',
        toBatch({ facts: JSON.stringify({ ...facts, O: { data: 'x' } }) }),
        'changes[1].facts:',
      ],
      [
        'facts of another form',
        toBatch({ facts: JSON.stringify({ ...facts, v: 99 }) }),
        'changes[1].facts.v: expected 1, got 99',
      ],
    ];
    for (const [what, part, error] of bad) {
      const answer = await ask('POST', 'changes', { epoch: epochNow, changes: [], ...part });
      expect([what, answer.status]).toEqual([what, 400]);
      expect(String(answer.body['errors'])).toContain(error);
    }
    const many = await ask('POST', 'changes', {
      epoch: epochNow,
      changes: Array.from({ length: 501 }, () => toChange()),
    });
    expect([many.status, String(many.body['errors'])]).toEqual([400, expect.stringContaining('changes')]);
    // Of all these batches nothing was written: the first change of each was a good one.
    expect((await ask('GET', 'heads?kind=pod')).body).toEqual({ heads: [] });

    const bomb = gzipSync(' '.repeat(9 * 2 ** 20));
    expect((await ask('POST', 'changes', bomb)).status).toBe(413);
    expect(
      (await ask('POST', 'changes', Buffer.from(Array.from({ length: 300_000 }, () => Math.random() * 256))))
        .status,
    ).toBe(413);
    expect((await ask('POST', 'changes', Buffer.from('no gzip'))).status).toBe(400);

    // What is good is written once, however often it comes, and shows.
    const good = gzipSync(
      JSON.stringify({
        epoch: epochNow,
        changes: [toChange(), toChange({ name: 'gone', facts: undefined })],
      }),
    );
    const written = await ask('POST', 'changes', good);
    expect([written.status, written.body]).toEqual([200, { changes: 1, waiting: [], dropped: [] }]);
    expect((await ask('POST', 'changes', good)).body).toMatchObject({ changes: 0 });
    expect((await ask('GET', 'heads?kind=pod')).body).toEqual({
      heads: [{ namespace: 'shop', name: 'a', epoch: epochNow, version }],
    });
    expect((await ask('GET', 'epoch')).body).toMatchObject({ kinds: ['pod'] });

    // A page that nobody said, a lease that is none.
    expect((await ask('GET', 'heads?kind=pod&page=abc')).body['errors']).toEqual([
      'page: expected what the page before said of the next one',
    ]);
    const lease = { fence: 1, turn: 0, startedMs: 0, lagMs: 0, usedMs: 0, stateWrites: 0, hasChunks: false };
    const kept = await ask('PUT', 'claims', { agent: agentName, lease });
    expect([kept.status, kept.body['reason']]).toEqual([409, 'lost']);

    // Whom the answer never reached is given the lease anew; who asks again without a word of when, or late, is not.
    const claim = (askedMs?: number) => ask('POST', 'claims', { agent: agentName, askedMs });
    const now = Date.now();
    const fences = [(await claim(now)).body['lease'], (await claim(now + 1)).body['lease']];
    expect(fences).toMatchObject([{ fence: 1 }, { fence: 2 }]);
    for (const late of [undefined, now]) {
      const refused = await claim(late);
      expect([refused.status, refused.body['reason']]).toEqual([409, 'held']);
    }
  },
  testMs,
);

const facts = { v: 1, k: 'pod', s: 'shop', n: 'a', u: 'uid-a', r: version, p: { c: ['web'] } };

function toChange(part: object = {}): object {
  return { kind: 'pod', namespace: 'shop', name: 'a', version, facts: JSON.stringify(facts), ...part };
}

/** A good change, and one that is not. */
function toBatch(part: object): object {
  return { changes: [toChange({ name: 'first', facts: undefined }), toChange(part)] };
}

interface AgentCall {
  readonly method: string;
  readonly target: string;
  readonly token: string;
  /** Bytes are sent as gzipped ones. */
  readonly body?: object | Uint8Array | undefined;
}

/** Calls a route of agents. */
async function call(
  { url }: System,
  { method, target, token, body }: AgentCall,
): Promise<{ readonly status: number; readonly body: { readonly [name: string]: unknown } }> {
  const isPacked = body instanceof Uint8Array;
  const type = isPacked ? 'application/gzip' : 'application/json';
  const answer = await fetch(new URL(target, url), {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    ...(body && { body: isPacked ? new Uint8Array(body) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}
