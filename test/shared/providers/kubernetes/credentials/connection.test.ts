import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '#platform/services/system.ts';
import { kubeconfigBytesMax, kubeconfigMarksMax } from '#providers/kubernetes/api/answer-limits.ts';
import { KubernetesConnectionError } from '#providers/kubernetes/api/errors.ts';
import {
  type ConnectionOptions,
  type KubernetesConnection,
  loadClusterConnection,
} from '#providers/kubernetes/credentials/connection.ts';
import { makeTempDir, type TempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { silentLog } from '../client/client-setup.ts';
import { toBase64, toKubeconfig } from '../client/scripted-server.ts';

let dir: TempDir;

beforeEach(async () => {
  dir = await makeTempDir();
});
afterEach(() => dir[Symbol.asyncDispose]());

function load(account: Partial<KubernetesConnection>, options: Partial<ConnectionOptions> = {}) {
  return loadClusterConnection(
    { name: 'prod', serviceAccount: false, placement: 'local', ...account },
    { environment: {}, log: silentLog, clock: systemClock, ...options },
  );
}

function loadUser(user: object, account: Partial<KubernetesConnection> = {}) {
  return load({ kubeconfigContents: toKubeconfig({ server: 'https://api:6443' }, user), ...account });
}

async function write(name: string, content: string): Promise<string> {
  const path = join(dir.path, name);
  await writeFile(path, content);
  return path;
}

test.each([
  ['a token file that is gone', { tokenFile: '/no/such' }, true],
  ['an unknown program', { exec: {} }, false],
])('%s is taken for credentials that may still come: %s', async (_what, user, lacksCredentials) => {
  await expect(loadUser(user)).rejects.toMatchObject({ lacksCredentials });
});

test('an empty token file has no credentials yet, and does not make the account anonymous', async () => {
  const tokenFile = await write('empty', '\n');
  await expect(loadUser({ tokenFile })).rejects.toMatchObject({
    ...{ lacksCredentials: true, message: expect.stringMatching(/the token file .*empty is empty/) },
  });
});

describe('credentials of a kubeconfig', () => {
  test.each([
    ['a token', { token: 'abc' }, { authorization: 'Bearer abc' }],
    ['a login', { username: 'ann', password: 'pä:ss' }, { authorization: `Basic ${toBase64('ann:pä:ss')}` }],
    ['a token before a password', { token: 'abc', username: 'jane' }, { authorization: 'Bearer abc' }],
    [
      'a certificate',
      { 'client-certificate-data': toBase64('CERT'), 'client-key-data': toBase64('KEY') },
      { certificate: 'CERT', key: 'KEY' },
    ],
    [
      'a certificate along with a token',
      { token: 'abc', 'client-certificate-data': toBase64('CERT'), 'client-key-data': toBase64('KEY') },
      { authorization: 'Bearer abc', certificate: 'CERT', key: 'KEY' },
    ],
    ['nothing', {}, {}],
  ])('%s', async (_what, user, credential) => {
    const connection = await loadUser(user);
    expect(await connection.credentialSource()).toEqual(credential);
  });

  test.each([
    ['a token, along with the certificate of the kubeconfig', { token: 'abc' }, 'CERT'],
    ['a certificate, in the place of it', { clientCertificateData: 'OTHER', clientKeyData: 'KEY' }, 'OTHER'],
  ])('an exec plugin may print %s', async (_what, status, certificate) => {
    const command = await writeProgram(join(dir.path, 'plugin'), `echo '${JSON.stringify({ status })}'`);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command };
    const own = { 'client-certificate-data': toBase64('CERT'), 'client-key-data': toBase64('KEY') };
    const environment = { PATH: '/usr/bin:/bin' };
    const kubeconfigContents = toKubeconfig({ server: 'https://api:6443' }, { exec, ...own });
    const connection = await load({ kubeconfigContents }, { environment });
    expect(await connection.credentialSource()).toMatchObject({ certificate, key: 'KEY' });
  });

  test('files are found beside the kubeconfig; a token file wins over a token', async () => {
    await write('ca.crt', 'CA');
    await write('client.crt', 'CERT');
    await write('client.key', 'KEY');
    await write('token', 'from-file\n');
    const kubeconfig = toKubeconfig(
      { server: 'https://api:6443', 'certificate-authority': 'ca.crt' },
      { token: 'old', tokenFile: 'token', 'client-certificate': 'client.crt', 'client-key': './client.key' },
    );
    const connection = await load({ kubeconfigFile: await write('kubeconfig', kubeconfig) });
    expect(connection.tls.ca).toBe('CA');
    const credential = { authorization: 'Bearer from-file', certificate: 'CERT', key: 'KEY' };
    expect(await connection.credentialSource()).toEqual(credential);
  });

  test('an id-token of the auth provider oidc is used until it expires', async () => {
    const payload = Buffer.from(JSON.stringify({ exp: 1_900_000_000 })).toString('base64url');
    const idToken = `e30.${payload}.sig`;
    const connection = await loadUser({ 'auth-provider': { name: 'oidc', config: { 'id-token': idToken } } });
    const credential = { authorization: `Bearer ${idToken}`, expiresAtMs: 1_900_000_000_000 };
    expect(await connection.credentialSource()).toEqual(credential);
  });

  test('a user of the auth provider oidc with nothing to make a token of', async () => {
    await expect(loadUser({ 'auth-provider': { name: 'oidc', config: {} } })).rejects.toThrow(
      'account "prod": its kubeconfig has the auth-provider "oidc" without an id-token, or refresh-token, client-id and idp-issuer-url: log in again',
    );
  });
});

describe('a connection', () => {
  test('splits the server into origin and path, and knows its namespace', async () => {
    const connection = await load({
      kubeconfigContents: toKubeconfig({ server: 'https://rancher.example.com/k8s/clusters/c-1/' }, {}),
    });
    expect(connection).toMatchObject({
      label: 'account "prod" (context "dev")',
      origin: 'https://rancher.example.com',
      basePath: '/k8s/clusters/c-1',
      namespace: 'default',
    });
  });

  test('is by ~/.kube/config where the account names no kubeconfig, and ~ is the home directory', async () => {
    await mkdir(join(dir.path, '.kube'));
    await write('.kube/config', toKubeconfig({ server: 'https://home', 'certificate-authority': 'ca' }, {}));
    await write('.kube/ca', 'CA');
    await write('other', toKubeconfig({ server: 'https://other' }, {}));
    const environment = { HOME: dir.path };
    expect(await load({}, { environment })).toMatchObject({ origin: 'https://home', tls: { ca: 'CA' } });
    const other = await load({ kubeconfigFile: '~/other' }, { environment });
    expect(other.origin).toBe('https://other');
    await expect(load({}, { environment: { HOME: join(dir.path, 'gone') } })).rejects.toThrow(
      `account "prod": kubeconfigFile ${join(dir.path, 'gone')}/.kube/config: ENOENT`,
    );
  });

  test.each([
    [
      { placement: 'deployed' as const },
      'account "prod": it has no credentials: set kubeconfigSecret, eks or kubeconfigContents, for deployed functions have no ~/.kube/config',
    ],
    [
      { kubeconfigContents: toKubeconfig({ server: 'https://api' }, {}), user: 'jane' },
      'account "prod": kubeconfigContents: user "jane" does not exist (it has ',
    ],
    [{ kubeconfigFile: '/no/such' }, /^account "prod": kubeconfigFile \/no\/such: ENOENT/],
    [
      { kubeconfigContents: toKubeconfig({ server: 'https://api' }, {}), context: 'other' },
      'account "prod": kubeconfigContents: context "other" does not exist (it has "dev")',
    ],
    [
      { kubeconfigContents: toKubeconfig({ server: 'api:6443' }, {}) },
      "the cluster's server is no http or https URL",
    ],
    [
      { serviceAccount: true },
      'account "prod": serviceAccount needs a pod to run in, but KUBERNETES_SERVICE_HOST',
    ],
  ])('that cannot be made says why: %j', async (account, message) => {
    await expect(load(account)).rejects.toThrow(message);
    await expect(load(account)).rejects.toThrow(KubernetesConnectionError);
  });

  test.each([
    ['10.0.0.1', 'https://10.0.0.1:443'],
    ['fd00::1', 'https://[fd00::1]:443'],
  ])("takes a pod's options: %s", async (host, origin) => {
    await write('ca.crt', 'CA');
    await write('token', 'pod-token\n');
    await write('namespace', 'tools');
    const environment = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443' };
    const ignored = { kubeconfigContents: 'not read', token: 'not used' };
    const connection = await load(
      { serviceAccount: true, placement: 'deployed', ...ignored },
      { environment, serviceAccountDirectory: dir.path },
    );
    expect(connection).toMatchObject({
      label: 'account "prod" (in-cluster)',
      origin,
      namespace: 'tools',
      tls: { ca: 'CA', rejectUnauthorized: true },
    });
    expect(await connection.credentialSource()).toEqual({ authorization: 'Bearer pod-token' });
  });
});

describe('a deployed function', () => {
  const plugin = { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws' };

  test.each([
    ['exec (aws)', {}, { exec: plugin }],
    ['auth-provider', {}, { 'auth-provider': { name: 'oidc', config: {} } }],
    ['certificate-authority', { 'certificate-authority': '/etc/ca.crt' }, { token: 'secret-token' }],
    ['client-certificate, client-key', {}, { 'client-certificate': 'a.crt', 'client-key': 'a.key' }],
    ['tokenFile', {}, { tokenFile: '/var/token' }],
  ])('refuses %s by name', async (field, cluster, user) => {
    const kubeconfigContents = toKubeconfig({ server: 'https://api:6443', ...cluster }, user);
    await expect(load({ kubeconfigContents, placement: 'deployed' })).rejects.toThrow(
      `account "prod": its kubeconfig has ${field}, which deployed functions refuse: inline the data, or use a token or EKS`,
    );
  });

  test('refuses a kubeconfig that is a file', async () => {
    const kubeconfigFile = await write('kubeconfig', toKubeconfig({ server: 'https://api:6443' }, {}));
    await expect(load({ kubeconfigFile, placement: 'deployed' })).rejects.toThrow(
      'is a file of one machine: deployed functions need kubeconfigContents',
    );
  });

  test('takes inline data, also beside a path that is not needed then', async () => {
    const kubeconfigContents = toKubeconfig(
      {
        server: 'https://api:6443',
        'certificate-authority': '/gone',
        'certificate-authority-data': toBase64('CA'),
      },
      { token: 'abc' },
    );
    expect((await load({ kubeconfigContents, placement: 'deployed' })).tls.ca).toBe('CA');
  });

  test('takes an exec plugin that a source of our own replaces', async () => {
    const kubeconfigContents = toKubeconfig(
      { server: 'https://api:6443' },
      { exec: { ...plugin, args: ['eks'] } },
    );
    const connection = await load(
      { kubeconfigContents, placement: 'deployed' },
      {
        replaceExecPlugin: ({ command, args }, { server }) =>
          command === 'aws' ? async () => ({ authorization: `${server} ${args}` }) : undefined,
      },
    );
    expect(await connection.credentialSource()).toEqual({ authorization: 'https://api:6443 eks' });
  });
});

test('a connection notices that a file it was made of changed, and only then', async () => {
  await write('token', 'one');
  const kubeconfigFile = await write(
    'kubeconfig',
    toKubeconfig({ server: 'https://api:6443' }, { tokenFile: 'token' }),
  );
  const connection = await load({ kubeconfigFile });
  expect(await connection.files.haveChanged()).toBe(false);
  await write('token', 'two!');
  expect(await connection.files.haveChanged()).toBe(true);
  const next = await load({ kubeconfigFile });
  expect(next.files.getFingerprint()).not.toBe(connection.files.getFingerprint());
  await write('token', 'two!');
  expect((await load({ kubeconfigFile })).files.getFingerprint()).toBe(next.files.getFingerprint());
});

test('a kubeconfig, or a file that it names, has a size', async () => {
  const path = join(dir.path, 'config');
  await writeFile(path, `${toKubeconfig({ server: 'https://api' }, {})}${' '.repeat(kubeconfigBytesMax)}`);
  const message = `account "prod": kubeconfigFile ${path}: ${path}: it is larger than ${kubeconfigBytesMax} bytes`;
  await expect(load({ kubeconfigFile: path })).rejects.toThrow(message);
  await writeFile(path, toKubeconfig({ server: 'https://api' }, { tokenFile: '/dev/zero' }));
  await expect(load({ kubeconfigFile: path })).rejects.toThrow('/dev/zero: it is larger than');
  const kubeconfigContents = `# ${'-'.repeat(kubeconfigMarksMax + 1)}`;
  await expect(load({ kubeconfigContents })).rejects.toThrow('characters with a meaning in YAML');
});
