import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { buildLocal } from '#infra/tools/build/build.ts';
import { systemClock } from '#platform/services/system.ts';
import {
  type ScriptedServer,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { startIdentityProvider } from '#test/shared/providers/kubernetes/credentials/identity-provider.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { makeTempDir, type TempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import type { ClusterCalls } from './call-cluster-main.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');
const program = 'test/acceptance/install/call-cluster-main.ts';

let dir: TempDir;
let missing: string | undefined;

beforeAll(async () => {
  dir = await makeTempDir();
  for (const file of ['package.json', 'package-lock.json']) await cp(path.join(root, file), toPath(file));
  // Install scripts are those of packages for development.
  const options = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  try {
    await run('npm', ['ci', ...options], { cwd: dir.path });
  } catch (error) {
    if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(String(error))) throw error;
    missing = 'no registry of npm can be reached, and its cache does not have all packages';
  }
});
disposeAfterAll(() => [dir]);

const toPath = (...parts: readonly string[]): string => path.join(dir.path, ...parts);

/** An account for each kind of credentials. */
async function makeCalls(api: ScriptedServer, identityUser: object): Promise<ClusterCalls> {
  const token = { apiVersion: 'client.authentication.k8s.io/v1', status: { token: 'of-exec' } };
  const command = await writeProgram(toPath('plugin'), `echo '${JSON.stringify(token)}'`);
  const users: { readonly [account: string]: object } = {
    oidc: identityUser,
    gcp: {
      'auth-provider': { name: 'gcp', config: { 'access-token': 'of-gcp', expiry: '2100-01-01T00:00:00Z' } },
    },
    exec: { exec: { apiVersion: token.apiVersion, command } },
  };
  const files = { token: 'of-pod', namespace: 'spinnaker', 'ca.crt': api.authority.certificate };
  for (const [name, text] of Object.entries(files)) await writeFile(toPath(name), text);
  const local = { placement: 'local', serviceAccount: false } as const;
  return {
    connections: [
      ...Object.entries(users).map(([name, user]) => ({
        ...{ ...local, name, kubeconfigContents: api.getKubeconfig({ user }) },
      })),
      { ...local, name: 'in-cluster', serviceAccount: true },
    ],
    environment: {
      PATH: process.env['PATH'],
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(api.port),
    },
    serviceAccountDirectory: dir.path,
  };
}

/** Copies the sources. @returns the file that Node runs */
async function copySources(): Promise<string> {
  for (const folder of ['shared', 'functions', program])
    await cp(path.join(root, folder), toPath(folder), { recursive: true });
  return toPath(program);
}

/** Packs them, as `npm run build` does. @returns the same */
async function pack(): Promise<string> {
  await buildLocal({ root, outputDir: toPath('dist'), entries: [program] });
  return toPath('dist', 'call-cluster-main.js');
}

test.for<readonly [string, () => Promise<string>]>([
  ['the sources', copySources],
  ['the bundles', pack],
])(
  'without packages for development, %s call clusters by oidc, auth providers, exec plugins and in a pod',
  async ([, place], { skip }) => {
    skip(missing !== undefined, missing);
    await using api = await startScriptedServer();
    await using provider = await startIdentityProvider({ clock: systemClock });
    const calls = await makeCalls(api, provider.getUser());
    const running = run(process.execPath, [await place()], { cwd: dir.path });
    running.child.stdin?.end(JSON.stringify(calls));
    const { stdout } = await running;

    const ends = calls.connections.map(({ name }) => [name, 'answered']);
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(ends));
    expect(provider.renewals).toHaveLength(1);
    const seen = api.seen.map(({ headers }) => headers.authorization);
    expect(seen).toEqual([
      expect.stringMatching(/^Bearer \S+\.\S+\.\S+$/),
      ...['of-gcp', 'of-exec', 'of-pod'].map((token) => `Bearer ${token}`),
    ]);
  },
);
