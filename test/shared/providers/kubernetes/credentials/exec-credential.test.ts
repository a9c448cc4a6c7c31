import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogFields, Logger } from '#core/logger.ts';
import { execOutputBytesMax, loadExecCredential } from '#providers/kubernetes/credentials/exec-credential.ts';
import type { ExecPlugin, KubeconfigCluster } from '#providers/kubernetes/credentials/kubeconfig.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { makeTempDir, type TempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { silentLog } from '../client/client-setup.ts';

const cluster: KubeconfigCluster = {
  server: 'https://api:6443',
  caData: 'Q0E=',
  skipTLSVerify: false,
};

let dir: TempDir;
let logged: LogFields[] = [];
const log: Logger = { ...silentLog, warn: (message, fields) => logged.push({ message, ...fields }) };

beforeEach(async () => {
  dir = await makeTempDir();
  logged = [];
});
afterEach(() => dir[Symbol.asyncDispose]());

async function run(script: string, plugin: Partial<ExecPlugin> = {}) {
  const command = await writeProgram(join(dir.path, 'plugin'), script);
  const apiVersion = 'client.authentication.k8s.io/v1';
  const defaults = {
    args: [],
    env: {},
    installHint: undefined,
    provideClusterInfo: false,
    interactiveMode: 'Never',
  };
  return loadExecCredential(
    { apiVersion, command, ...defaults, ...plugin },
    { environment: { PATH: '/usr/bin:/bin', INHERITED: 'yes' }, cluster, account: 'prod', log },
  );
}

function print(status: object): string {
  return `echo '${JSON.stringify({ kind: 'ExecCredential', status })}'`;
}

test('a token with its expiry', async () => {
  const status = { token: 'abc', expirationTimestamp: '2030-01-01T00:00:00Z' };
  expect(await run(print(status))).toEqual({
    authorization: 'Bearer abc',
    certificate: undefined,
    key: undefined,
    expiresAtMs: Date.UTC(2030, 0, 1),
  });
});

test('a client certificate', async () => {
  const status = { clientCertificateData: 'CERT', clientKeyData: 'KEY' };
  expect(await run(print(status))).toMatchObject({
    authorization: undefined,
    certificate: 'CERT',
    key: 'KEY',
  });
});

test('a plugin gets its arguments, its variables, ours, and the cluster when it asks', async () => {
  const out = join(dir.path, 'out');
  const script = `printf '%s|' "$1" "$OWN" "$INHERITED" "$KUBERNETES_EXEC_INFO" > ${out}\n${print({ token: 'abc' })}`;
  await run(script, { args: ['a b'], env: { OWN: 'mine' }, provideClusterInfo: true });
  const [argument, own, inherited, info = ''] = (await readFile(out, 'utf8')).split('|');
  expect([argument, own, inherited]).toEqual(['a b', 'mine', 'yes']);
  expect(JSON.parse(info)).toEqual({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: { server: 'https://api:6443', 'certificate-authority-data': 'Q0E=' },
    },
  });
});

test.each([
  ['fails', 'exit 3', /plugin" ended with status 3$/],
  [
    'says why it fails',
    'echo "no session: log in" >&2; exit 3',
    /plugin" ended with status 3; what it said is in the log$/,
  ],
  ['is killed', 'kill -9 $$', /plugin" was ended by SIGKILL$/],
  ['prints no JSON', 'echo "token: secret-token"', /plugin" printed no JSON$/],
  ['prints no credential', print({}), /printed neither a token nor a client certificate with its key$/],
  ['prints half a certificate', print({ clientCertificateData: 'C' }), /client certificate with its key$/],
])('a plugin that %s', async (_what, script, message) => {
  await expect(run(script)).rejects.toThrow(message);
});

test('what a plugin says when it fails is logged, and nothing else tells it', async () => {
  const script = `yes filler | head -c 100000 >&2; printf 'refused \\033[31mtoken=planted-0815\\nlast' >&2; exit 1`;
  const error = await getFailure(run(script, { args: ['--key', 'planted-4711'] }));
  expect(JSON.stringify([String(error), error, String((error as Error).cause)])).not.toMatch(
    /planted|filler/,
  );
  expect(logged).toEqual([
    {
      message: 'a credential program failed',
      kind: 'exec plugin',
      account: 'prod',
      command: join(dir.path, 'plugin'),
      how: 'ended with status 1',
      stderr: expect.stringMatching(/^[^\n]{1000,14000}refused \\u001b\[31mtoken=planted-0815\\u000alast$/),
    },
  ]);
});

test('a plugin that cannot be started gives none of its arguments away', async () => {
  const error = await getFailure(run('', { command: '/', args: ['planted-4711'] }));
  expect(String(error)).toContain('could not be started');
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('planted-4711');
});

test('a plugin that never stops talking is stopped', async () => {
  await expect(run('while :; do echo 0123456789012345678901234567890123456789; done')).rejects.toThrow(
    `printed more than ${execOutputBytesMax} bytes`,
  );
});

test('a plugin that is not there', async () => {
  await expect(run('', { command: 'no-such-plugin', installHint: 'brew install it\n' })).rejects.toThrow(
    'exec plugin "no-such-plugin" was not found; install it or put it into PATH: brew install it',
  );
});

test.each([
  [{ apiVersion: 'client.authentication.k8s.io/v1alpha1' }, 'expected client.authentication.k8s.io/v1 or'],
  [{ interactiveMode: 'Always' }, 'needs a terminal (interactiveMode Always)'],
])('a plugin that we cannot serve: %j', async (plugin, message) => {
  await expect(run(print({ token: 'abc' }), plugin)).rejects.toThrow(message);
});

test('of what a plugin complains about the last words are logged', async () => {
  await expect(run('yes words >&2 & sleep 0.3; kill $!; exit 3')).rejects.toThrow('ended with status 3');
  const [{ stderr } = {}] = logged;
  expect(stderr).toMatch(/words$/);
  expect(String(stderr).length).toBeLessThan(20_000);
});

test('a plugin whose children hold its outputs open is not waited for', async () => {
  const startMs = performance.now();
  const credential = await run(`${print({ token: 'abc' })}; sleep 30 &`);
  expect(performance.now() - startMs).toBeLessThan(20_000);
  expect(credential).toMatchObject({ authorization: 'Bearer abc' });
});
