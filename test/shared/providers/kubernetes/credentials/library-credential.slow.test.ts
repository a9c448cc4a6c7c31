import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { getErrorMessage } from '#core/errors.ts';
import type { LogFields, Logger } from '#core/logger.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { makeTempDir, type TempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { createTestClient, silentLog, TurnedClock } from '../client/client-setup.ts';
import { answerJson, type ScriptedServer, startScriptedServer } from '../client/scripted-server.ts';

let dir: TempDir;
let api: ScriptedServer;
let logged: LogFields[] = [];
const log: Logger = { ...silentLog, warn: (message, fields) => logged.push({ message, ...fields }) };

beforeEach(async () => {
  dir = await makeTempDir();
  api = await startScriptedServer();
  logged = [];
});
disposeAfterEach(() => [api, dir]);

/** A client of a machine whose kubeconfig has this auth provider. */
function open(name: string, config: object, options: { readonly clock?: TurnedClock } = {}) {
  const kubeconfigContents = api.getKubeconfig({ user: { 'auth-provider': { name, config } } });
  const environment = { PATH: '/usr/bin:/bin' };
  const client = createTestClient({ kubeconfigContents }, { environment, log, ...options });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

/** A command such as gcloud: each call prints another token, which lives for an hour, and leaves a line in `calls`. */
async function writeCommand(expiresAt: string): Promise<object> {
  const count = join(dir.path, 'calls');
  const script = `echo call >> ${count}; n=$(wc -l < ${count} | tr -d ' ')
echo "{\\"credential\\": {\\"access_token\\": \\"made-$n\\", \\"token_expiry\\": \\"${expiresAt}\\"}}"`;
  return {
    'cmd-path': await writeProgram(join(dir.path, 'cloud command'), script),
    'cmd-args': 'config config-helper --format=json',
    'token-key': '{.credential.access_token}',
    'expiry-key': '{.credential.token_expiry}',
  };
}

/** The tokens that the API server saw, in order, each once. */
function listTokens(): string[] {
  return [...new Set(api.seen.map(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? ''))];
}

async function getFailure(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => 'no failure', getErrorMessage);
}

test.each(['gcp', 'azure'])('a token of %s that lives is used as it is', async (name) => {
  await open(name, { 'access-token': 'given', expiry: '2100-01-01T00:00:00Z' }).getJson('/version');
  expect(listTokens()).toEqual(['given']);
});

test.each(['gcp', 'azure'])('one of %s is renewed by its command when it has expired', async (name) => {
  const clock = new TurnedClock();
  const command = await writeCommand(new Date(clock.now() + 3_600_000).toISOString());
  const config = { 'access-token': 'old', expiry: '2020-01-01T00:00:00Z', ...command };
  const client = open(name, config, { clock });
  await client.getJson('/version');
  await client.getJson('/api');
  expect(listTokens()).toEqual(['made-1']);
  clock.turn(3_700_000);
  await client.getJson('/version');
  expect(listTokens()).toEqual(['made-1', 'made-2']);
});

test('a token that the API server refuses is renewed before its time', async () => {
  api.script((response, request) => {
    const isRevoked = request.headers.authorization === 'Bearer revoked';
    answerJson(isRevoked ? 401 : 200, {})(response, request);
  });
  const command = await writeCommand('2100-01-01T00:00:00Z');
  await open('gcp', { 'access-token': 'revoked', expiry: '2100-01-01T00:00:00Z', ...command }).getJson(
    '/version',
  );
  expect(listTokens()).toEqual(['revoked', 'made-1']);
});

test('a token may stand in a file', async () => {
  const tokenFile = join(dir.path, 'token');
  await writeFile(tokenFile, 'from-file\n');
  await open('corporate', { tokenFile }).getJson('/version');
  expect(listTokens()).toEqual(['from-file']);
});

test.each([
  [
    'has expired without a command',
    { 'access-token': 'planted', expiry: '2020-01-01T00:00:00Z' },
    /its token has expired, and no cmd-path renews it/,
  ],
  [
    'is renewed by a command that fails',
    { 'cmd-path': '/bin/ls', 'cmd-args': '/no-such-folder', 'token-key': '{.a}', 'expiry-key': '{.b}' },
    /no-such-folder.*its token cannot be renewed/,
  ],
  [
    'is renewed by a command that prints something else',
    { 'cmd-path': '/bin/echo', 'cmd-args': 'planted', 'token-key': '{.a}', 'expiry-key': '{.b}' },
    /^its token cannot be renewed$/,
  ],
])('a user whose token %s is told so, without it', async (_what, config, said) => {
  const failure = await getFailure(open('gcp', config).getJson('/version'));
  expect(failure).toMatch(/^account "prod" \(context "dev"\): /);
  expect(failure).toMatch(
    /auth-provider "gcp" ended with status 1; what it said is in the log: log in again, or use an exec plugin or a token$/,
  );
  expect(logged).toEqual([
    expect.objectContaining({
      message: 'a credential program failed',
      kind: 'auth-provider',
      command: 'gcp',
      stderr: expect.stringMatching(said),
    }),
  ]);
  expect(failure + JSON.stringify(logged)).not.toContain('planted');
  expect(api.seen).toEqual([]);
});

test('an auth provider that nobody knows is told', async () => {
  expect(await getFailure(open('corporate', {}).getJson('/version'))).toMatch(
    /auth-provider "corporate" printed neither a token nor a client certificate with its key: log in again, or use an exec plugin/,
  );
});
