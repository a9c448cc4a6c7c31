import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import packageJson from '#package.json' with { type: 'json' };
import { userAgent } from '#providers/kubernetes/transport/session.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { makeTempDir, type TempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { createTestClient, silentLog, TurnedClock } from '../client/client-setup.ts';
import {
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
  toBase64,
} from '../client/scripted-server.ts';

let dir: TempDir;
let server: ScriptedServer;
let clock: TurnedClock;

beforeEach(async () => {
  dir = await makeTempDir();
  server = await startScriptedServer();
  clock = new TurnedClock();
});
disposeAfterEach(() => [server, dir]);

/** Tokens of the requests so far. */
function seenTokens(): (string | undefined)[] {
  return server.seen.map(({ headers }) => headers.authorization?.replace('Bearer ', ''));
}

async function writeKubeconfig(user: object): Promise<string> {
  const path = join(dir.path, 'kubeconfig');
  await writeFile(path, server.getKubeconfig({ user }));
  return path;
}

describe('an exec plugin', () => {
  /** A plugin that counts its runs in a file and prints `token-<count>`. */
  async function writePlugin(status: string): Promise<object> {
    const count = join(dir.path, 'count');
    await writeFile(count, '');
    const script = `printf x >> ${count}; n=$(wc -c < ${count} | tr -d ' '); sleep 0.05\necho "{\\"status\\":{\\"token\\":\\"token-$n\\"${status}}}"`;
    await writeProgram(join(dir.path, 'plugin'), script);
    return { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin' } };
  }

  const countRuns = async () => (await readFile(join(dir.path, 'count'), 'utf8')).length;

  test('runs once for many requests, found beside its kubeconfig', async () => {
    const kubeconfigFile = await writeKubeconfig(await writePlugin(''));
    await using client = createTestClient({ kubeconfigFile }, { clock });
    await Promise.all(Array.from({ length: 20 }, () => client.getText('/livez')));
    await client.getText('/livez');
    expect(new Set(seenTokens())).toEqual(new Set(['token-1']));
    expect(await countRuns()).toBe(1);
  });

  test('runs once more when its token has expired, however many requests wait', async () => {
    const expiry = new Date(clock.now() + 600_000).toISOString();
    const kubeconfigFile = await writeKubeconfig(
      await writePlugin(`,\\"expirationTimestamp\\":\\"${expiry}\\"`),
    );
    await using client = createTestClient({ kubeconfigFile }, { clock });
    await client.getText('/livez');
    clock.turn(700_000);
    await Promise.all(Array.from({ length: 20 }, () => client.getText('/livez')));
    expect(await countRuns()).toBe(2);
    expect(new Set(seenTokens().slice(1))).toEqual(new Set(['token-2']));
  });

  test('runs again after a 401, and the request succeeds', async () => {
    const kubeconfigFile = await writeKubeconfig(await writePlugin(''));
    await using client = createTestClient({ kubeconfigFile }, { clock });
    server.script(answerStatus(401, 'Unauthorized'), answerJson(200, {}));
    await client.getText('/livez');
    expect(seenTokens()).toEqual(['token-1', 'token-2']);
  });

  test('that fails is told with the account and the context, and tried again by the next request', async () => {
    const user = await writePlugin('');
    const kubeconfigFile = await writeKubeconfig(user);
    const program = await readFile(join(dir.path, 'plugin'), 'utf8');
    await writeProgram(join(dir.path, 'plugin'), 'echo "session expired" >&2; exit 1');
    await using client = createTestClient({ kubeconfigFile }, { clock });
    await expect(client.getText('/livez')).rejects.toThrow(
      /^account "prod" \(context "dev"\): exec plugin ".*plugin" ended with status 1; what it said is in the log$/,
    );
    await writeFile(join(dir.path, 'plugin'), program);
    await client.getText('/livez');
    expect(seenTokens()).toEqual(['token-1']);
  });

  test('may take longer than a caller wants to wait', async () => {
    const kubeconfigFile = await writeKubeconfig(await writePlugin(''));
    await using client = createTestClient({ kubeconfigFile }, { clock });
    const controller = new AbortController();
    const patient = client.getText('/livez');
    const impatient = client.getText('/livez', { signal: controller.signal });
    controller.abort(new Error('no time'));
    await expect(impatient).rejects.toThrow('no time');
    await patient;
    expect(server.seen.length).toBe(1);
  });
});

test('a 401 that stays is told after one more try, without the token', async () => {
  await using client = createTestClient({ kubeconfigContents: server.getKubeconfig() }, { clock });
  server.script(answerStatus(401, 'Unauthorized'));
  const failure = await getFailure(client.getText('/livez'));
  expect(failure).toMatchObject({ name: 'KubernetesApiError', status: 401 });
  expect(String(failure)).toContain(
    'Unauthorized says the server: the API server refuses the credentials of account "prod" (context "dev"); renew them',
  );
  expect(String(failure)).not.toContain('secret-token');
  expect(server.seen.length).toBe(2);
});

describe('a kubeconfig that changes', () => {
  test('is read again after a few seconds, without losing a request', async () => {
    const kubeconfigFile = await writeKubeconfig({ token: 'old' });
    await using client = createTestClient({ kubeconfigFile }, { clock });
    await client.getText('/livez');
    await writeKubeconfig({ token: 'renewed' });
    await client.getText('/livez');
    clock.turn(3_001);
    await client.getText('/livez');
    expect(seenTokens()).toEqual(['old', 'old', 'renewed']);
    const ports = new Set(server.seen.map(({ clientPort }) => clientPort));
    expect(ports.size).toBe(1);
  });

  test('is read again at once when the server refuses the old token', async () => {
    const kubeconfigFile = await writeKubeconfig({ tokenFile: 'token' });
    await writeFile(join(dir.path, 'token'), 'old');
    await using client = createTestClient({ kubeconfigFile }, { clock });
    await client.getText('/livez');
    await writeFile(join(dir.path, 'token'), 'renewed');
    server.script(answerStatus(401, 'Unauthorized'), answerJson(200, {}));
    await client.getText('/livez');
    expect(seenTokens()).toEqual(['old', 'old', 'renewed']);
  });

  test('but is broken just now leaves things as they were, and is warned of', async () => {
    const kubeconfigFile = await writeKubeconfig({ token: 'old' });
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (_message: string, fields: unknown) => warnings.push(fields) };
    await using client = createTestClient({ kubeconfigFile }, { clock, log });
    await client.getText('/livez');
    await writeFile(kubeconfigFile, 'users: [');
    clock.turn(3_001);
    await client.getText('/livez');
    expect(seenTokens()).toEqual(['old', 'old']);
    expect(warnings).toEqual([
      {
        account: 'prod',
        error: expect.stringMatching(/^account "prod": kubeconfigFile .*: it is not valid YAML/),
      },
    ]);
    await writeKubeconfig({ token: 'renewed' });
    clock.turn(3_001);
    await client.getText('/livez');
    expect(seenTokens().at(-1)).toBe('renewed');
  });

  test('in its time alone keeps what the plugin gave', async () => {
    await writeProgram(join(dir.path, 'plugin'), `echo "{\\"status\\":{\\"token\\":\\"$$\\"}}"`);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin' };
    const kubeconfigFile = await writeKubeconfig({ exec });
    await using client = createTestClient({ kubeconfigFile }, { clock });
    await client.getText('/livez');
    await utimes(kubeconfigFile, 1, 1);
    clock.turn(3_001);
    await client.getText('/livez');
    expect(new Set(seenTokens()).size).toBe(1);
  });

  test('in its client certificate takes new connections', async () => {
    const toUser = (name: string) => {
      const { certificate, key } = server.authority.issue({ commonName: name });
      return { 'client-certificate-data': toBase64(certificate), 'client-key-data': toBase64(key) };
    };
    const kubeconfigFile = await writeKubeconfig(toUser('jane'));
    await using client = createTestClient({ kubeconfigFile }, { clock });
    await client.getText('/livez');
    await writeKubeconfig(toUser('joe'));
    clock.turn(3_001);
    await client.getText('/livez');
    expect(server.seen.map(({ clientName }) => clientName)).toEqual(['jane', 'joe']);
  });
});

test('a token that no header can carry is told, not shown', async () => {
  const kubeconfigContents = server.getKubeconfig({ user: { token: 'secret-token\nsecond line' } });
  await using client = createTestClient({ kubeconfigContents }, { clock });
  const failure = await client.getText('/livez').catch(String);
  expect(failure).toContain(
    'account "prod" (context "dev"): its authorization header would hold characters that HTTP forbids',
  );
  expect(failure).not.toContain('secret-token');
});

test('a client certificate that is none is told with the account', async () => {
  const user = { 'client-certificate-data': toBase64('nonsense'), 'client-key-data': toBase64('nonsense') };
  await using client = createTestClient({ kubeconfigContents: server.getKubeconfig({ user }) }, { clock });
  await expect(client.getText('/livez')).rejects.toThrow(/^account "prod" \(context "dev"\): .*PEM/);
});

test('we call ourselves by the version of the package', () => {
  expect(userAgent).toBe(`busdriver/${packageJson.version}`);
});
