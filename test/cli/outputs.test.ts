import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import packageJson from '#package.json' with { type: 'json' };
import { listen } from '#test/support/network/listening.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { runCommand } from './command-line.ts';

/** Why the caching agent of the account `away` fails. */
const refused =
  'account "away" (server): no answer from http://127.0.0.1:1: the connection was refused; is the API server up, and is this its address? (ECONNREFUSED)';

let dir: TempDir;
let config: string;
let system: System;

beforeAll(async () => {
  dir = await makeTempDir();
  config = path.join(dir.path, 'clouddriver.yml');
  const accounts = [
    { name: 'away', server: { host: 'http://127.0.0.1:1', bearerToken: 'encrypted:noop!v:t' } },
    { name: 'wrong', kubeconfigFile: path.join(dir.path, 'kubeconfig') },
  ];
  await writeFile(config, JSON.stringify({ kubernetes: { accounts } }));
  system = await startSystem({ config: [config] });
  await vi.waitFor(
    async () => expect(await (await system.fetch('/cache/introspection')).text()).toContain('refused'),
    { timeout: 60_000, interval: 250 },
  );
});
afterAll(async () => {
  for (const each of [system, dir]) await each?.[Symbol.asyncDispose]();
});

/** Runs a command, and gives what it printed with a word in the place of all that is another each time. */
async function print(...words: readonly string[]) {
  const { code, stdout, stderr } = await runCommand([...words, '--url', system.url]);
  const fix = (text: string) =>
    text
      .replaceAll(system.url, 'URL')
      .replaceAll(dir.path, 'DIR')
      .replaceAll(/\d+\.\d GiB/g, 'N GiB')
      .replaceAll(/\b\d+(\.\d)?s\b/g, 'TIME')
      .replaceAll(/(waiting|running)( +stream +- +0 +)\d+/g, 'waiting$2N')
      .replaceAll(/ {2,}/g, '  ');
  return { code, stdout: fix(stdout), stderr: fix(stderr) };
}

describe('busdriver doctor', () => {
  it('says what is wrong from the disk to the accounts, and what to mend', async () => {
    const data = path.join(dir.path, 'open');
    await mkdir(data, { mode: 0o755 });
    const options = ['--data-dir', data, '--config', config, '--context', 'none', '--kubeconfig', config];
    expect(await print('doctor', ...options)).toEqual({
      code: 1,
      stdout: `CHECK  STATE  FOUND
disk  ok  N GiB free for DIR/open
data directory  failed  DIR/open is open to other users
settings  ok  read, with 2 Kubernetes accounts
busdriver  ok  URL answers: Busdriver ${packageJson.version}
clock of busdriver  ok  within TIME of this machine
your rights  ok  you may add and change accounts
account away  failed  DEGRADED: ${refused}
account wrong  failed  DEGRADED: account "wrong": kubeconfigFile DIR/kubeconfig: ENOENT: no such file or directory, open 'DIR/kubeconfig'
accounts  failed  0 of 2 without trouble, TIME behind at most
tasks  ok  0 open
cluster  failed  account "DIR/clouddriver.yml": kubeconfigFile DIR/clouddriver.yml: context "none" does not exist (it has none)
`,
      stderr: `Next, data directory: chmod -R go= DIR/open
Next, account away: busdriver accounts check away
Next, account wrong: busdriver accounts check wrong
`,
    });
  });

  it('says that nobody answers, and where the settings are wrong', async () => {
    const file = path.join(dir.path, 'wrong.yml');
    await writeFile(file, 'kubernetes:\n  accounts: [\n');
    const words = ['doctor', '--data-dir', system.dataDir, '--config', file, '--url', 'http://127.0.0.1:1'];
    const { code, stdout, stderr } = await runCommand([...words, '--output', 'json']);
    expect({ code, stderr, rows: JSON.parse(stdout).slice(2) }).toEqual({
      code: 1,
      stderr: '',
      rows: [
        {
          check: 'settings',
          state: 'failed',
          found: `${file}:3:1: not YAML: bad indent`,
          next: 'mend that place of the file',
        },
        {
          check: 'busdriver',
          state: 'failed',
          found: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 does not answer: /),
          next: 'start Busdriver with busdriver start, or name where it answers by --url',
        },
      ],
    });
  });

  it.each([
    [200, { AWS_REGION: 'eu-west-1' }, ['ok', /^you are arn:aws:iam::123456789012:user\/ada in eu-west-1$/]],
    [403, { AWS_REGION: 'eu-west-1' }, ['failed', /InvalidClientTokenId|not valid/]],
    [200, {}, ['failed', /[Rr]egion/]],
  ] as const)('asks AWS where that is wanted: %d with %j', async (status, region, [state, found]) => {
    await using aws = await startSts(status);
    const env = {
      ...{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'planted-31', AWS_REGION: '' },
      ...{ AWS_DEFAULT_REGION: '', AWS_CONFIG_FILE: '/dev/null', AWS_ENDPOINT_URL_STS: aws.url, ...region },
    };
    const words = ['doctor', '--aws', '--data-dir', system.dataDir, '--url', system.url, '--output', 'json'];
    const { stdout } = await runCommand(words, env);
    const row = (JSON.parse(stdout) as { check: string }[]).find(({ check }) => check === 'AWS');
    expect(row).toMatchObject({ state, found: expect.stringMatching(found) });
    expect(stdout).not.toContain('planted');
  });
});

it('busdriver caching lists caching agents, all or those of an account that fail', async () => {
  const { code, stdout, stderr } = await print('caching', '--account', 'away', '--failing');
  const row = 'away  KubernetesCoreCachingAgent[1/1]  waiting  stream  -  0  N  ';
  const table = `ACCOUNT  AGENT  STATE  MODE  AGE  ITEMS  FAILURES  ERROR\n${row}${refused}\n`;
  expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: '', stdout: table });
  expect((await print('caching', '--account', 'none', '--output', 'json')).stdout).toBe('[]\n');
});

describe('busdriver tasks', () => {
  it('lists a task that failed, and shows its history and why', async () => {
    const manifests = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'web' } }];
    const deployManifest = { account: 'wrong', moniker: { app: 'shop' }, manifests };
    const id = await system.postOperations([{ deployManifest }], { user: 'ada' });
    await system.waitForTask(id);
    const why = `account "wrong": kubeconfigFile DIR/kubeconfig: ENOENT: no such file or directory, open 'DIR/kubeconfig'`;
    expect(await print('tasks')).toEqual({
      code: 0,
      stdout: `ID  STATE  BEGAN  TOOK  ACCOUNT  APPLICATION  USER  OPERATIONS  OBJECTS  STATUS
${id}  FAILED  TIME ago  TIME  wrong  shop  ada  deployManifest  configMap a  ${why}
`,
      stderr: '',
    });
    expect(await print('task', id)).toEqual({
      code: 1,
      stdout: `ORCHESTRATION  Initializing Orchestration Task
ORCHESTRATION  Processing op: KubernetesDeployManifestOperation
DEPLOY_KUBERNETES_MANIFEST  Beginning the deployment to account wrong
DEPLOY_KUBERNETES_MANIFEST  Order of deployment: configMap a
ORCHESTRATION  Orchestration failed: KubernetesDeployManifestOperation | KubernetesConnectionError: [${why}]
`,
      stderr: `failed: ${why}\n`,
    });
  });
});

/** AWS' token service, which answers everything with this status. */
async function startSts(status: number) {
  const result =
    '<Arn>arn:aws:iam::123456789012:user/ada</Arn><UserId>U</UserId><Account>123456789012</Account>';
  const body =
    status === 200
      ? `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>${result}</GetCallerIdentityResult></GetCallerIdentityResponse>`
      : '<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>The security token is not valid</Message></Error></ErrorResponse>';
  return listen(
    createServer((_request, response) =>
      response.writeHead(status, { 'content-type': 'text/xml' }).end(body),
    ),
  );
}
