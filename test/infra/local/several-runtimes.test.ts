import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from 'aws-lambda';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { handler as scheduleAgents } from '#functions/workers/schedule-agents.ts';
import { type Runtime, startRuntime } from '#infra/local/runtime.ts';
import type { LogLevel } from '#platform/config.ts';
import { Services } from '#platform/services/services.ts';
import {
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

/** An installation in this process, with a cluster of its own behind the account `prod`, which both have. */
interface Installation {
  readonly runtime: Runtime;
  readonly cluster: ScriptedServer;
}

let parts: AsyncDisposableStack;
let logged: string[];
let printed: string[];

beforeEach(() => {
  parts = new AsyncDisposableStack();
  logged = listen(process.stderr);
  printed = listen(process.stdout);
});
afterEach(async () => {
  await parts.disposeAsync();
  vi.restoreAllMocks();
});

/** What is written to a stream from now on, which goes nowhere else. */
function listen(stream: NodeJS.WriteStream): string[] {
  const written: string[] = [];
  vi.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  return written;
}

interface StartOptions {
  /** Default: INFO. */
  readonly logLevel?: LogLevel;
  /** Accounts that are left out. */
  readonly wrong?: readonly object[];
}

/** Starts one, which has the account `prod` and one of its own. */
async function start(
  name: string,
  { logLevel = 'INFO', wrong = [] }: StartOptions = {},
): Promise<Installation> {
  const dir = parts.use(await makeTempDir());
  const cluster = parts.use(await startScriptedServer());
  cluster.script(answerStatus(404, 'NotFound'));
  const file = join(dir.path, 'clouddriver.yml');
  const account = { environment: `of-${name}`, kubeconfigContents: cluster.getKubeconfig() };
  const accounts = [{ name: 'prod', ...account }, { name, ...account }, ...wrong];
  const kubernetes = { cache: { enabled: false }, accounts };
  await writeFile(file, JSON.stringify({ kubernetes }));
  const runtime = await startRuntime({
    ...{ host: '127.0.0.1', port: 0, allowedHosts: [], shutdownTimeoutMs: 5_000, logLevel },
    ...{ dataDir: join(dir.path, 'data'), configFiles: [file], profiles: [], kubeconfig: undefined },
  });
  return { runtime: parts.use(runtime), cluster };
}

async function call({ runtime }: Installation, path: string, init: RequestInit = {}): Promise<unknown> {
  const answer = await fetch(new URL(path, runtime.url), init);
  expect(answer.status, path).toBe(200);
  return answer.json();
}

/** Deletes an object by a request that is the same in both installations, and waits for its task. */
async function remove(
  installation: Installation,
  name: string,
  { user, requestId = 'same' }: { readonly user: string; readonly requestId?: string },
): Promise<unknown> {
  const description = { account: 'prod', manifestName: `configMap ${name}`, location: 'shop' };
  const { id } = (await call(installation, `/kubernetes/ops?clientRequestId=${requestId}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-SPINNAKER-USER': user },
    body: JSON.stringify([{ deleteManifest: description }]),
  })) as { readonly id: string };
  const isDone = (task: unknown) => expect(task).toMatchObject({ status: { completed: true } });
  await vi.waitFor(async () => isDone(await call(installation, `/task/${id}`)), { timeout: 20_000 });
  return call(installation, `/task/${id}`);
}

/** Objects that a cluster was asked for. */
function listNames({ cluster }: Installation): readonly string[] {
  const names = cluster.seen.map(({ path }) => /\/configmaps\/(\w+)/.exec(path)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** Lines of the log that were written for a user. */
function listLines(user: string): readonly string[] {
  return logged
    .join('')
    .split('\n')
    .filter((line) => line.includes(`"user":"${user}"`));
}

test('two runtimes in one process share no account, no task, no cluster and no field of a log line', async () => {
  const [east, west] = await Promise.all([start('east'), start('west')]);
  const [eastTask, westTask] = await Promise.all([
    remove(east, 'apples', { user: 'anna' }),
    remove(west, 'pears', { user: 'ben' }),
  ]);

  expect(await call(east, '/credentials')).toMatchObject([{ name: 'east' }, { name: 'prod' }]);
  expect(await call(west, '/credentials')).toMatchObject([{ name: 'prod' }, { name: 'west' }]);
  expect(await call(east, '/credentials/prod')).toMatchObject({ environment: 'of-east' });
  expect(await call(west, '/credentials/prod')).toMatchObject({ environment: 'of-west' });
  expect(JSON.stringify(eastTask)).toContain('apples');
  expect(JSON.stringify(eastTask)).not.toContain('pears');
  expect(JSON.stringify(westTask)).toContain('pears');
  expect(JSON.stringify(westTask)).not.toContain('apples');
  expect([listNames(east), listNames(west)]).toEqual([['apples'], ['pears']]);
  expect(listLines('anna').length).toBeGreaterThan(0);
  expect(listLines('ben').length).toBeGreaterThan(0);
  expect(listLines('anna').filter((line) => line.includes('ben') || line.includes('pears'))).toEqual([]);
});

test('one of them logs less, and goes on when the other one ends', async () => {
  const talkative = await start('east');
  const silent = await start('west', { logLevel: 'SILENT' });
  await remove(silent, 'pears', { user: 'ben' });
  await remove(talkative, 'apples', { user: 'anna' });
  expect(listLines('anna').length).toBeGreaterThan(0);
  expect(listLines('ben')).toEqual([]);

  await talkative.runtime[Symbol.asyncDispose]();
  expect(await call(silent, '/credentials')).toMatchObject([{ name: 'prod' }, { name: 'west' }]);
  await remove(silent, 'plums', { user: 'ben', requestId: 'later' });
  expect(listNames(silent)).toEqual(['pears', 'plums']);
});

test('metrics tell of the installation in which a function runs', async () => {
  const broken = await start('east', { wrong: [{ name: 'north', eks: {} }] });
  const whole = await start('west');
  const context = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis: () => 50_000 };
  printed.length = 0;
  for (const [name, { runtime }] of Object.entries({ broken, whole })) {
    const { environment, direct } = runtime.services;
    await using services = new Services({ ...environment, AWS_LAMBDA_FUNCTION_NAME: name }, direct);
    await scheduleAgents.withServices(services)({} as never, context as Context);
  }

  const metrics = printed.flatMap((text) => text.split('\n')).filter((line) => line.includes('_aws'));
  const rejected = metrics.map((line) => JSON.parse(line)).filter((line) => 'RejectedAccounts' in line);
  expect(rejected).toMatchObject([
    { FunctionName: 'broken', RejectedAccounts: 1 },
    { FunctionName: 'whole', RejectedAccounts: 0 },
  ]);
});
