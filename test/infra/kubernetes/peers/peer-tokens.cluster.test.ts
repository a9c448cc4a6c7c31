import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { PeerTokens, peerAudience } from '#infra/kubernetes/peers/peer-tokens.ts';
import { answerJson, answerStatus } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startScriptedPod } from '../scripted-pod.ts';

const own = 'system:serviceaccount:spinnaker:spin-clouddriver';

/** Tokens as an API server knows them that answers as a test tells; `own.token.x` is the pod's. */
async function start(stack: AsyncDisposableStack, answer: (token: string) => JsonObject | undefined) {
  const { server, cluster, log } = await startScriptedPod(stack);
  const dir = stack.use(await makeTempDir());
  const file = join(dir.path, 'token');
  await writeFile(file, 'own.token.x\n');
  const asked: string[] = [];
  let nowMs = 0;
  server.script((response, request) => {
    const { token } = JSON.parse(request.body).spec;
    asked.push(token);
    const status = answer(token);
    (status === undefined ? answerStatus(403, 'Forbidden') : answerJson(201, { status }))(response, request);
  });
  const tokens = new PeerTokens({ cluster, file, clock: { monotonic: () => nowMs }, log });
  return { server, tokens, asked, log, turn: (ms: number) => (nowMs += ms) };
}

const good = (username: string): JsonObject => ({
  authenticated: true,
  audiences: [peerAudience],
  user: { username },
});

test('a token is asked about once in half a minute', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, tokens, asked, turn } = await start(stack, () => good(own));
  for (let count = 0; count < 3; count += 1) expect(await tokens.isPeer('Bearer peer.token.y')).toBe(true);
  expect(asked.sort()).toEqual(['own.token.x', 'peer.token.y']);
  expect(server.seen[0]).toMatchObject({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
  });
  expect(JSON.parse(server.seen[0]?.body ?? '')).toMatchObject({ spec: { audiences: [peerAudience] } });
  turn(31_000);
  expect(await tokens.isPeer('Bearer peer.token.y')).toBe(true);
  expect(asked).toHaveLength(4);
});

test.each<[string, JsonObject]>([
  ['of another account', good('system:serviceaccount:spinnaker:default')],
  ['for another audience', { ...good(own), audiences: ['busdriver'] }],
  ['of a server that knows no audiences', { authenticated: true, user: { username: own } }],
  ['that is not good', { authenticated: false, error: 'expired' }],
  ['of a server that says anything', { authenticated: 'true', audiences: peerAudience }],
])('a token %s is refused', async (_what, answer) => {
  await using stack = new AsyncDisposableStack();
  const { tokens } = await start(stack, (token) => (token === 'own.token.x' ? good(own) : answer));
  expect(await tokens.isPeer('Bearer peer.token.y')).toBe(false);
});

test('what is no token is refused without a question', async () => {
  await using stack = new AsyncDisposableStack();
  const { tokens, asked } = await start(stack, () => good(own));
  for (const text of [
    undefined,
    '',
    'Bearer',
    'Bearer x',
    'Basic a.b.c',
    `Bearer a.b.${'c'.repeat(9_000)}`,
    'Bearer a.b.c d',
  ])
    expect(await tokens.isPeer(text)).toBe(false);
  expect(asked).toEqual([]);
});

test('where tokens cannot be checked they are refused, and the log says so once, without a token', async () => {
  await using stack = new AsyncDisposableStack();
  const { tokens, log } = await start(stack, () => undefined);
  for (let count = 0; count < 2; count += 1) expect(await tokens.isPeer('Bearer peer.token.y')).toBe(false);
  expect(log.lines).toEqual([
    {
      message: 'tokens of peers cannot be checked: they are refused',
      fields: { reason: 'Forbidden says the server' },
    },
  ]);
});

test('a flood of tokens has the API server asked four at a time, and is refused beyond that', async () => {
  await using stack = new AsyncDisposableStack();
  const { tokens, asked } = await start(stack, () => good(own));
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, index) => tokens.isPeer(`Bearer a.b.${index}`)),
  );
  expect(answers.filter((isPeer) => !isPeer).length).toBeGreaterThan(0);
  expect(asked.length).toBeLessThan(500);
});
