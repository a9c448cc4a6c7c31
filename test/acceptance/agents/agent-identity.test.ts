import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  createTokenSigner,
  type TokenClaims,
  type TokenSigner,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import type { System } from '../../support/system/system.ts';

const testMs = 240_000;

test(
  'agents are let in by what proves them, and by nothing else',
  async () => {
    const [signer, other] = [
      await createTokenSigner(),
      await createTokenSigner('system:serviceaccount:other:agent'),
    ];
    await using world = await startWorld([toAgentAccount('edge', signer), toAgentAccount('other', other)]);
    const { system } = world;
    const hello = (names: readonly string[]) => ({
      ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
      accounts: names.map((name) => ({ name })),
    });
    const open = (token: string, names: readonly string[] = ['edge']) =>
      call(system, { method: 'POST', target: '/agent/v1/sessions', token, body: hello(names) });
    const refused: readonly (readonly [string, TokenSigner, TokenClaims])[] = [
      ['a forged signature', await createTokenSigner(), {}],
      ['another audience', signer, { audience: 'https://kubernetes.default.svc' }],
      ['a token of the past', signer, { lifeSeconds: -120 }],
      ['another issuer', signer, { issuer: 'https://elsewhere.example' }],
      ['another service account', signer, { subject: 'system:serviceaccount:busdriver:default' }],
    ];
    for (const [what, by, claims] of refused) {
      const answer = await open(await by.sign(claims));
      expect([what, answer.status, answer.body['message']]).toEqual([
        what,
        401,
        'The token proves the agent of none of these accounts',
      ]);
    }
    // Of accounts that are none of its own it learns nothing but that.
    const welcome = await open(await signer.sign(), ['edge', 'other', 'no-such']);
    expect(welcome.status).toBe(200);
    expect(JSON.stringify(welcome.body)).not.toContain('other:agent');
    const grants = welcome.body['accounts'] as { name: string; operations: boolean; refused?: string }[];
    expect(grants.map(({ name, operations }) => [name, operations])).toEqual([
      ['edge', true],
      ['other', false],
      ['no-such', false],
    ]);
    expect(grants[1]?.refused).toBe(grants[2]?.refused?.replace('no-such', 'other'));

    const token = String(welcome.body['token']);
    const session = String(welcome.body['session']);
    const [own, foreign] = await Promise.all(
      ['edge', 'other'].map((account) => system.postOperations([toDeploy(account, 'default', ['x'])])),
    );
    const take = (id: string | undefined, by = token) =>
      call(system, {
        method: 'POST',
        target: `/agent/v1/tasks/${id}/lease`,
        token: by,
        body: { owner: 'me', attempts: 1 },
      });
    const work = () => call(system, { method: 'GET', target: `/agent/v1/sessions/${session}/work`, token });
    expect((await work()).body['work']).toEqual([{ kind: 'TASK', account: 'edge', id: own }]);
    expect((await take(foreign)).status).toBe(403);
    expect((await take('no-such-task')).status).toBe(403);
    expect((await take(own, await signer.sign())).status).toBe(401);
    expect((await take(own, `${token.slice(0, -4)}AAAA`)).status).toBe(401);
    const taken = await take(own);
    expect(taken.status).toBe(200);
    expect((await take(own)).body).toMatchObject({ status: 409, reason: 'held' });

    const second = await open(await other.sign(), ['other']);
    const stranger = String(second.body['token']);
    const commit = (by: string) =>
      call(system, {
        method: 'POST',
        target: `/agent/v1/tasks/${own}/commits`,
        token: by,
        body: { lease: taken.body['lease'], next: 'release', entries: [] },
      });
    expect((await commit(stranger)).status).toBe(403);
    const foreignWork = `/agent/v1/sessions/${session}/work`;
    expect((await call(system, { method: 'GET', target: foreignWork, token: stranger })).status).toBe(403);
    expect(
      (await call(system, { method: 'DELETE', target: `/agent/v1/sessions/${session}`, token })).status,
    ).toBe(204);
    expect([(await commit(token)).status, (await work()).status, (await take(own)).status]).toEqual([
      401, 401, 401,
    ]);
    expect(await system.readLog()).not.toContain(token);
  },
  testMs,
);

test(
  'agents need no token of those who call the API, and theirs opens nothing else',
  async () => {
    const signer = await createTokenSigner();
    await using dir = await makeTempDir();
    const tokenFile = path.join(dir.path, 'token');
    const secret = 'a-token-of-people-1234567890';
    await writeFile(tokenFile, secret, { mode: 0o600 });
    await using world = await startWorld([toAgentAccount('edge', signer)], ['--token-file', tokenFile]);
    const { system } = world;
    const hello = {
      ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
      accounts: [{ name: 'edge' }],
    };
    const open = (token: string, body: object = hello) =>
      call(system, { method: 'POST', target: '/agent/v1/sessions', token, body });
    const welcome = await open(await signer.sign());

    expect(welcome.status).toBe(200);
    const own = await call(system, {
      method: 'GET',
      target: '/credentials',
      token: String(welcome.body['token']),
    });
    expect(own.status).toBe(401);
    expect((await call(system, { method: 'GET', target: '/credentials', token: secret })).status).toBe(200);
    expect((await open(secret)).status).toBe(401);
    const odd = await open(await signer.sign(), { ...hello, agentId: 'a@b' });
    expect([odd.status, odd.body['errors']]).toEqual([
      400,
      ['agentId: expected letters, digits, dots, dashes and underscores'],
    ]);
    const later = await open(await signer.sign(), { ...hello, journalFormat: 2 });
    expect(later.body['accounts']).toMatchObject([{ name: 'edge', operations: false }]);
    // Who asks for a task all the same would take its journal for something else.
    const posted = await call(system, {
      ...{ method: 'POST', target: '/kubernetes/ops', token: secret },
      body: [toDeploy('edge', 'default', ['x'])],
    });
    const take = (by: unknown) =>
      call(system, {
        ...{ method: 'POST', target: `/agent/v1/tasks/${posted.body['id']}/lease`, token: String(by) },
        body: { owner: 'me', attempts: 1 },
      });
    expect((await take(later.body['token'])).body).toMatchObject({ status: 409, reason: 'journal-format' });
    expect((await take(welcome.body['token'])).status).toBe(200);
  },
  testMs,
);

test('agents are not served unless the settings say so', async () => {
  const signer = await createTokenSigner();
  await using world = await startWorld([toAgentAccount('edge', signer)], [], { enabled: false });
  const { system } = world;
  expect(system.accounts).toEqual([]);
  expect(system.stderr).toContain(
    'kubernetes.accounts[0].agent: agents are served where busdriver.agents.enabled is true',
  );
  const answer = await call(system, {
    method: 'POST',
    target: '/agent/v1/sessions',
    token: await signer.sign(),
    body: {},
  });
  expect(answer.status).toBe(404);
});

interface AgentCall {
  readonly method: string;
  readonly target: string;
  readonly token: string;
  readonly body?: object;
}

/** Calls a route of agents, which is none of Spinnaker's API. */
async function call(
  { url }: System,
  { method, target, token, body }: AgentCall,
): Promise<{ readonly status: number; readonly body: { readonly [name: string]: unknown } }> {
  const answer = await fetch(new URL(target, url), {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}
