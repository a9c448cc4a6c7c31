import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, inject, test } from 'vitest';
import type { SharedCluster } from './global-cluster.ts';

const offer = inject('clusterOffer');
const shared = 'socket' in offer ? await askForCluster(offer.socket) : undefined;

/** The cluster as tests see it. */
export type TestCluster = SharedCluster;

/**
 * The real Kubernetes API server of this test run, started when the first test file imports this module.
 *
 * @throws {Error} when there is none on this machine: use it inside {@link describeWithCluster} only
 */
export function getCluster(): TestCluster {
  if (shared === undefined)
    throw new Error(`No Kubernetes API server: ${'missing' in offer ? offer.missing : ''}`);
  return shared;
}

/**
 * `describe` for tests that need a real API server. Where none can be had they are skipped, with the reason as
 * the title of the skipped test.
 *
 * @param define registers the tests; called only where there is a cluster
 */
export function describeWithCluster(name: string, define: (cluster: TestCluster) => void): void {
  if ('missing' in offer) {
    describe(name, () => test.skip(`skipped: ${offer.missing}`));
    return;
  }
  describe(name, () => {
    let testsRun = 0;
    beforeEach(() => {
      testsRun += 1;
    });
    afterAll(() => callShare(offer.socket, 'POST', String(testsRun)));
    define(getCluster());
  });
}

/** A namespace of the test's own. Disposing asks for its deletion and does not wait for it. */
export interface TestNamespace extends AsyncDisposable {
  readonly name: string;
}

/**
 * Makes a namespace with a name used by no other test, ready for Pods (its default service account exists).
 *
 * @param prefix start of the name, which tells whose it is: lower-case letters, digits and dashes
 */
export async function createNamespace(prefix = 'test'): Promise<TestNamespace> {
  const name = `${prefix}-${randomBytes(5).toString('hex')}`;
  await requestApi('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  while ((await findObject(`/api/v1/namespaces/${name}/serviceaccounts/default`)) === undefined)
    await sleep(10);
  return {
    name,
    async [Symbol.asyncDispose]() {
      await requestApi('DELETE', `/api/v1/namespaces/${name}`);
    },
  };
}

/** An answer of the API server that is not 2xx. */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Sends one request to the API server, as an administrator: to arrange or observe without the code under test. One that it is
 * too busy for, as while a custom kind's storage begins, is repeated.
 *
 * @param target path and query, such as `/apis/apps/v1/namespaces/x/deployments?limit=5`
 * @param body sent as JSON; for PATCH as a JSON merge patch
 * @returns the parsed answer
 * @throws {ApiStatusError} for an answer that is not 2xx
 */
export async function requestApi(method: string, target: string, body?: unknown): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendToApi(method, target, body);
    } catch (error) {
      const isBusy = error instanceof ApiStatusError && error.status === 429;
      if (!isBusy || attempt === busyAttempts) throw error;
    }
    await sleep(busyPauseMs);
  }
}

const busyAttempts = 20;
const busyPauseMs = 500;

async function sendToApi(method: string, target: string, body?: unknown): Promise<unknown> {
  const { server, token } = getCluster();
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
  };
  const agent = await getApiAgent();
  return new Promise((resolve, reject) => {
    const call = requestHttps(new URL(target, server), { method, headers, agent }, async (response) => {
      const answer = await text(response).catch(reject);
      const { statusCode = 0 } = response;
      if (statusCode < 300) return resolve(JSON.parse(answer ?? ''));
      reject(new ApiStatusError(statusCode, `${method} ${target}: ${statusCode} ${answer}`));
    });
    // The server ends connections that nobody used for 90 seconds, maybe just now.
    const isStale = (error: Error) => call.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
    const end = (error: Error) =>
      isStale(error) ? sendToApi(method, target, body).then(resolve, reject) : reject(error);
    call.once('error', end).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

let apiAgent: Promise<HttpsAgent> | undefined;

function getApiAgent(): Promise<HttpsAgent> {
  apiAgent ??= readFile(getCluster().caFile).then((ca) => new HttpsAgent({ ca, keepAlive: true }));
  return apiAgent;
}

/** An object by its path, such as `/api/v1/namespaces/x/pods/y`; undefined when there is none. */
export async function findObject(target: string): Promise<unknown> {
  try {
    return await requestApi('GET', target);
  } catch (error) {
    if (error instanceof ApiStatusError && error.status === 404) return undefined;
    throw error;
  }
}

/** How to run kubectl. */
export interface KubectlOptions {
  /** What it reads from stdin, as `apply -f -` does; default nothing. */
  readonly stdin?: string;
}

/**
 * Runs the real kubectl of the API server's version against the shared cluster.
 *
 * @param args such as `['--namespace', name, 'get', 'pods', '--output', 'json']`
 * @returns what it wrote to stdout
 * @throws {Error} when it ends with another code than 0, with what it wrote to stderr
 */
export function kubectl(args: readonly string[], options?: KubectlOptions): Promise<string> {
  return runKubectl(getCluster(), args, options);
}

/** Like {@link kubectl}, against a cluster that the test started itself. */
export async function runKubectl(
  cluster: Pick<TestCluster, 'kubectl' | 'kubeconfig' | 'dir'>,
  args: readonly string[],
  { stdin = '' }: KubectlOptions = {},
): Promise<string> {
  const cacheDir = path.join(cluster.dir, 'kubectl-cache');
  const child = spawn(cluster.kubectl, [
    '--kubeconfig',
    cluster.kubeconfig,
    '--cache-dir',
    cacheDir,
    ...args,
  ]);
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  child.stdin.on('error', () => undefined).end(stdin); // kubectl need not read it all
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), code]);
  if (exitCode !== 0) throw new Error(`kubectl ${args.join(' ')} (exit code ${exitCode}): ${stderr.trim()}`);
  return stdout;
}

async function askForCluster(socket: string): Promise<SharedCluster> {
  return JSON.parse(await callShare(socket, 'GET'));
}

/** Talks to the server of `test/support/cluster/global-cluster.ts`. */
async function callShare(socketPath: string, method: 'GET' | 'POST', body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path: '/' }, async (response) => {
      const answer = await text(response).catch(reject);
      if (response.statusCode === 200) resolve(answer ?? '');
      else reject(new Error(answer ?? 'no answer'));
    });
    call.once('error', reject).end(body);
  });
}
