import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { toBase64, toKubeconfig } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { listen } from '#test/support/network/listening.ts';
import { writeProgram } from '#test/support/run/temp-dir.ts';

/** Secrets of a test, each found again by its name. */
export class PlantedSecrets {
  readonly #texts = new Map<string, string>();

  /** A text that occurs nowhere else; the same one for the same name. */
  plant(name: string): string {
    const text = this.#texts.get(name) ?? `planted-${name}-${this.#texts.size + 4711}`;
    this.#texts.set(name, text);
    return text;
  }

  /** Looks for a secret, too, that is there already. */
  add(name: string, text: string): void {
    this.#texts.set(name, text);
  }

  get names(): readonly string[] {
    return [...this.#texts.keys()];
  }

  get count(): number {
    return this.#texts.size;
  }

  /** Names of those that a text holds, plain, in base64 at any offset, or in a URL. @param except names not to look for */
  findIn(text: string, except: readonly string[] = []): string[] {
    const found = [...this.#texts].filter(([, secret]) =>
      listForms(secret).some((form) => text.includes(form)),
    );
    return found.map(([name]) => name).filter((name) => !except.includes(name));
  }
}

/** A secret as it may be written. Base64 of a text within another one depends on its offset: the middle of each counts. */
function listForms(secret: string): string[] {
  const offsets = ['', 'x', 'xx'].map((before) =>
    Buffer.from(before + secret)
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('hex'), ...offsets];
}

/** Accounts that fail in a way that tells of their secrets, and what they are configured by. */
export interface PlantedConfig {
  readonly file: string;
  /** Names of the accounts that cannot reach a cluster, and of those of artifacts. */
  readonly broken: readonly string[];
  readonly artifactAccounts: readonly { readonly name: string; readonly type: string }[];
}

export interface PlantedConfigOptions {
  readonly dir: string;
  readonly secrets: PlantedSecrets;
  /** Kubeconfig of the accounts `good`, and `restricted`, which everybody may read and nobody may write to. */
  readonly kubeconfig: string;
  /** Origin to which credentials of artifact accounts may go. */
  readonly artifactOrigin: string;
}

/** Filled in from the environment when the configuration is read. */
const placeholder = `$${'{PLANTED_ENVIRONMENT}'}`;
/** Nothing listens there. */
const deadServer = 'https://127.0.0.1:1';

/** Writes accounts with secrets in every place that holds any. */
export async function writePlantedConfig(options: PlantedConfigOptions): Promise<PlantedConfig> {
  const { dir, secrets, kubeconfig, artifactOrigin } = options;
  const broken = await listBrokenAccounts(options);
  const plant = (name: string) => secrets.plant(name);
  const origins = { urlRestrictions: { allowedIps: ['127.0.0.1'] }, credentialOrigins: [artifactOrigin] };
  const artifacts = {
    http: {
      enabled: true,
      accounts: [
        { name: 'http', username: plant('http-user'), password: plant('http-password'), ...origins },
      ],
    },
    github: { enabled: true, accounts: [{ name: 'github', token: plant('github-token'), ...origins }] },
  };
  const kubernetes = {
    enabled: true,
    accounts: [
      { name: 'good', kubeconfigFile: kubeconfig, cacheIntervalSeconds: 5 },
      { name: 'restricted', kubeconfigFile: kubeconfig, permissions: { WRITE: ['operators'] } },
      ...broken.map((account) => ({ cacheIntervalSeconds: 5, ...account })),
    ],
  };
  const file = join(dir, 'spinnaker.yml');
  const more = {
    busdriver: { authorization: { reads: 'off' }, operations: { clusterWaitSeconds: 0 } },
    spinnaker: { extensibility: { repositories: { own: { password: plant('unknown-setting') } } } },
  };
  await writeFile(file, JSON.stringify({ kubernetes, artifacts, ...more }));
  return {
    file,
    broken: broken.map(({ name }) => name),
    artifactAccounts: [
      { name: 'http', type: 'http/file' },
      { name: 'github', type: 'github/file' },
    ],
  };
}

interface BrokenAccount {
  readonly name: string;
  readonly kubeconfigFile?: string;
  readonly kubeconfigContents?: string;
}

async function listBrokenAccounts({ dir, secrets }: PlantedConfigOptions): Promise<BrokenAccount[]> {
  const plant = (name: string) => secrets.plant(name);
  const users = {
    token: { token: plant('token') },
    basic: { username: plant('user'), password: plant('password') },
    'line-break': { token: `${plant('token-line')}\n${plant('token-next-line')}` },
    key: {
      'client-certificate-data': toBase64(plant('certificate')),
      'client-key-data': toBase64(plant('key')),
    },
    oidc: { 'auth-provider': { name: 'oidc', config: { 'refresh-token': plant('refresh-token') } } },
    gcp: { 'auth-provider': { name: 'gcp', config: { 'access-token': plant('access-token') } } },
    ...(await listExecUsers(dir, secrets)),
    placeholder: { token: placeholder },
    'placeholder-name': { username: placeholder, tokenFile: join(dir, 'no-such-file') },
  };
  const define = (name: string, cluster: object, user: object = {}) => ({
    ...{ name, kubeconfigContents: toKubeconfig(cluster, user) },
  });
  return [
    ...Object.entries(users).map(([name, user]) => define(name, { server: deadServer }, user)),
    { name: 'no-yaml', kubeconfigContents: `users:\n- user:\n    token: "${plant('broken-yaml')}\n  x: [` },
    define('proxied', {
      server: deadServer,
      'proxy-url': `http://u:${plant('proxy-password')}@127.0.0.1:1`,
    }),
    define('server-user', { server: `https://u:${plant('server-password')}@127.0.0.1:1` }),
    define('no-server', { server: `ftp://u:${plant('ftp-password')}@x` }),
  ];
}

/** Users with exec plugins that fail in each way. */
async function listExecUsers(dir: string, secrets: PlantedSecrets): Promise<{ [name: string]: object }> {
  const plant = (name: string) => secrets.plant(name);
  const scripts: { [name: string]: string } = {
    'exec-stderr': `echo "denied: ${plant('exec-stderr')}" >&2; exit 3`,
    'exec-environment': 'env >&2; echo "$*" >&2; exit 4',
    'exec-stdout': `echo "token: ${plant('exec-stdout')}"`,
    'exec-no-credential': `echo '{"status": {"password": "${plant('exec-status')}"}}'`,
    'exec-killed': `echo ${plant('exec-killed')} >&2; kill -9 $$`,
  };
  const users: [string, object][] = [];
  for (const [name, script] of Object.entries(scripts)) {
    users.push([name, toExecUser(await writeProgram(join(dir, name), script), secrets)]);
  }
  return { ...Object.fromEntries(users), 'exec-missing': toExecUser('/no/such/plugin', secrets) };
}

function toExecUser(command: string, secrets: PlantedSecrets): object {
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      interactiveMode: 'Never',
      command,
      args: ['--key', secrets.plant('exec-argument')],
      env: [{ name: 'EXEC_KEY', value: secrets.plant('exec-variable') }],
    },
  };
}

/** A host of artifacts that refuses everything, and repeats in what it says all that it was asked with. */
export async function startEchoHost(): Promise<
  AsyncDisposable & { readonly url: string; readonly seen: string[] }
> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const echo = `${request.url} ${JSON.stringify(request.headers)}`;
    seen.push(echo);
    response.writeHead(401, { 'content-type': 'text/plain' }).end(`refused: ${echo}`);
  });
  return { ...(await listen(server)), seen };
}
