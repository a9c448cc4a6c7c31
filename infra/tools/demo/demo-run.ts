import { readFile } from 'node:fs/promises';
import { onceAborted } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { startCluster } from '../test-cluster/cluster.ts';
import { type DemoTarget, makeDeleteRequest, makeDeployRequest } from './demo-application.ts';
import { createDemoClient, type DemoClient } from './demo-client.ts';
import type { DemoOptions } from './demo-options.ts';
import type { Screen } from './demo-screen.ts';
import { formatDuration, formatSummary, type Summary, type Timing } from './demo-summary.ts';
import { startDemoSystem } from './demo-system.ts';
import { watchRollout, watchTask } from './demo-watch.ts';

/** So long a Pod of the test cluster takes to start: at once would leave nothing to watch. */
const podStartDelay = '2s';

/** Milliseconds that deleting what was deployed may take. */
const cleanUpTimeoutMs = 30_000;

/** What the demo runs with. */
export interface RunDemoOptions extends DemoOptions {
  /** The program of `npm start`. */
  readonly mainFile: string;
  readonly screen: Screen;
  /** Ends the demo: it cleans up and rejects with the signal's reason. */
  readonly interrupted: AbortSignal;
}

/**
 * Deploys the sample application, watches it until it is stable, and cleans up what it started and deployed.
 *
 * @throws Error with the reason when something did not become stable, or could not be started or cleaned up
 */
export async function runDemo(given: RunDemoOptions): Promise<void> {
  const broken = new AbortController();
  const interrupted = AbortSignal.any([given.interrupted, broken.signal]);
  const options: DemoRun = { ...given, interrupted, broken };
  const { screen, keep, namespace } = options;
  await using started = new AsyncDisposableStack();
  const kubeconfig = await chooseKubeconfig(options, started);
  const url = options.url ?? (await startSystem(options, { kubeconfig, started }));
  const client = createDemoClient(url, await readToken(options));
  const target = { account: await chooseAccount(client, options), namespace };
  const isThrownAway = options.url === undefined && options.kubeconfig === undefined;
  // A failed or interrupted deploy is cleaned up, too.
  if (!keep && !isThrownAway) started.defer(() => cleanUp({ client, screen, target }));
  const summary = await deployInTime({ client, target, options });
  screen.print(`\n${formatSummary({ ...summary, isKept: keep })}`);
  if (!keep || options.url !== undefined) return;
  screen.print(`\nBusdriver goes on at ${url}; Ctrl-C ends it.`);
  await onceAborted(interrupted);
  broken.signal.throwIfAborted();
}

async function readToken({ tokenFile }: RunDemoOptions): Promise<string | undefined> {
  return tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim();
}

interface DemoRun extends RunDemoOptions {
  /** Aborted with the reason when something that the demo started ends on its own. */
  readonly broken: AbortController;
}

/** The user's kubeconfig, or that of a test cluster; of no interest where Busdriver runs already. */
async function chooseKubeconfig(
  { url, kubeconfig, screen, interrupted, broken }: DemoRun,
  started: AsyncDisposableStack,
): Promise<string> {
  if (kubeconfig !== undefined || url !== undefined) return kubeconfig ?? '';
  const row = screen.addRow('Kubernetes test cluster', 'starting');
  const startedAt = performance.now();
  const cluster = await startCluster({
    args: [`--pod-start-delay=${podStartDelay}`],
    report: (line) => row.wait(line),
    signal: interrupted,
  });
  started.use(cluster);
  void cluster.exited.then(({ errorOutput }) => {
    broken.abort(new Error(`The test cluster ended: ${errorOutput.trim()}`));
  });
  row.succeed(
    `ready after ${formatDuration(performance.now() - startedAt)}; its Pods take ${podStartDelay} to start`,
  );
  return cluster.kubeconfig;
}

async function startSystem(
  { mainFile, screen, interrupted, broken }: DemoRun,
  { kubeconfig, started }: { kubeconfig: string; started: AsyncDisposableStack },
): Promise<string> {
  const row = screen.addRow('Busdriver', 'starting');
  const startedAt = performance.now();
  const system = started.use(await startDemoSystem({ mainFile, kubeconfig, signal: interrupted }));
  void system.exited.then((output) => broken.abort(new Error(`Busdriver ended: ${output}`)));
  row.succeed(`ready after ${formatDuration(performance.now() - startedAt)} at ${system.url}`);
  return system.url;
}

async function chooseAccount(client: DemoClient, { account, interrupted }: RunDemoOptions): Promise<string> {
  const accounts = await client.listAccounts(interrupted);
  const [first, ...others] = accounts;
  if (first === undefined) throw new Error(`${client.url} has no Kubernetes account`);
  if (account === undefined && others.length === 0) return first;
  if (account !== undefined && accounts.includes(account)) return account;
  const problem = account === undefined ? 'Pass --account NAME' : `There is no account '${account}'`;
  throw new Error(`${problem}: ${client.url} has the Kubernetes accounts ${accounts.join(', ')}`);
}

interface Deployment {
  readonly client: DemoClient;
  readonly target: DemoTarget;
  readonly options: RunDemoOptions;
}

async function deployInTime({ client, target, options }: Deployment): Promise<Omit<Summary, 'isKept'>> {
  const { screen, interrupted, timeoutMs } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const signal = AbortSignal.any([interrupted, timeout]);
    return await deploy(target, { client, screen, signal });
  } catch (error) {
    if (interrupted.aborted) throw interrupted.reason;
    const prefix = timeout.aborted ? `After ${timeoutMs / 1000} s (--timeout): ` : '';
    throw new Error(`${prefix}${getErrorMessage(error)}`, { cause: error });
  }
}

/** Posts the deploy and watches its task, then its objects, as a Deploy (Manifest) stage does. */
async function deploy(
  target: DemoTarget,
  watch: Parameters<typeof watchTask>[1],
): Promise<Omit<Summary, 'isKept'>> {
  const { client, signal } = watch;
  const timings: Timing[] = [];
  const measure = async <T>(part: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const value = await work();
    timings.push({ part, durationMs: performance.now() - startedAt });
    return value;
  };
  const row = watch.screen.addRow('POST /kubernetes/ops', 'deployManifest of 3 manifests');
  const taskId = await measure('POST /kubernetes/ops answered', () =>
    client.startOperations(makeDeployRequest(target), signal),
  );
  row.succeed(`deployManifest accepted as task ${taskId}`);
  const task = await measure('then the task was completed', () => watchTask(taskId, watch));
  await measure('then everything was stable', () => watchRollout(task.deployed, target, watch));
  return { url: client.url, target, taskId, names: task.deployed, timings };
}

/** Deletes what was deployed, through the API. @throws Error when that fails: something stays behind */
async function cleanUp({
  client,
  screen,
  target,
}: Omit<Deployment, 'options'> & { readonly screen: Screen }): Promise<void> {
  const signal = AbortSignal.timeout(cleanUpTimeoutMs);
  screen.print('\nCleaning up:');
  try {
    const id = await client.startOperations(makeDeleteRequest(target), signal);
    await watchTask(id, { client, screen, signal });
  } catch (error) {
    const place = `namespace ${target.namespace} of account ${target.account}`;
    throw new Error(`The application may still be in ${place}: ${getErrorMessage(error)}`, { cause: error });
  }
}
