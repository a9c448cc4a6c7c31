import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { type Cluster, startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { GoUnavailableError, getGo } from '#infra/tools/test-cluster/go-toolchain.ts';

/** What the tests' processes learn before any test runs; see `test/support/cluster/cluster.ts`, its only reader. */
export type ClusterOffer =
  /** Socket of a small HTTP server: GET starts the cluster and answers it, POST adds a count of tests. */
  | { readonly socket: string }
  /** Why there can be no cluster here. */
  | { readonly missing: string };

/** What GET answers. */
export type SharedCluster = Pick<Cluster, 'kubeconfig' | 'kubectl' | 'server' | 'token' | 'caFile' | 'dir'>;

declare module 'vitest' {
  export interface ProvidedContext {
    clusterOffer: ClusterOffer;
  }
}

/** A control plane that starts when the first process asks for it. */
export interface OfferedCluster {
  readonly offer: ClusterOffer;
  /** Stops it where it was started, and says how many tests used it. */
  stop(): Promise<void>;
}

/** Offers one Kubernetes control plane to any number of processes. */
export async function offerCluster(): Promise<OfferedCluster> {
  const missing = await findReasonAgainst();
  if (missing !== undefined) {
    return {
      offer: { missing },
      stop: async () => console.log(`real API server: no test ran. ${missing}`),
    };
  }
  const dir = await mkdtemp(path.join(tmpdir(), 'busdriver-tests-'));
  const socket = path.join(dir, 'cluster');
  const share = new ClusterShare();
  const server = createServer((request, response) => void share.answer(request, response));
  await listen(server, socket);
  const stop = async () => {
    server.close();
    await share.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return { offer: { socket }, stop };
}

/**
 * Offers one Kubernetes control plane to the whole test run. It starts when the first test file asks for it, so
 * that a run without such tests pays nothing, and ends with the run.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { offer, stop } = await offerCluster();
  project.provide('clusterOffer', offer);
  return stop;
}

async function findReasonAgainst(): Promise<string | undefined> {
  try {
    await getGo();
    return undefined;
  } catch (error) {
    if (error instanceof GoUnavailableError) return error.message;
    throw error;
  }
}

/** The cluster once somebody asked for it, and how many tests used it. */
class ClusterShare {
  #cluster: Promise<Cluster> | undefined;
  #testsRun = 0;

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (request.method === 'POST') this.#testsRun += Number(await text(request));
      else response.write(JSON.stringify(await this.#describe()));
      response.end();
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    }
  }

  async #describe(): Promise<SharedCluster> {
    // Hundreds of suites share it: it may have memory, and leaves them the processor time of three collections in four.
    process.env['GOGC'] ??= '400';
    this.#cluster ??= startCluster({ report: (line) => console.log(line) });
    const { kubeconfig, kubectl, server, token, caFile, dir } = await this.#cluster;
    return { kubeconfig, kubectl, server, token, caFile, dir };
  }

  async stop(): Promise<void> {
    if (this.#cluster === undefined) return;
    const cluster = await this.#cluster.catch(() => undefined);
    await cluster?.[Symbol.asyncDispose]();
    console.log(`real API server: ${this.#testsRun} ${this.#testsRun === 1 ? 'test' : 'tests'} ran`);
  }
}

async function listen(server: Server, socket: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socket, resolve);
  });
}
