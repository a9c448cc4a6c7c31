import { readFile } from 'node:fs/promises';
import { onceAborted } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asJsonObject, getPath, type JsonValue } from '#core/json.ts';
import { startCluster } from '../test-cluster/cluster.ts';
import { type DemoTarget, makeDeleteRequest, makeDeployRequest } from './demo-application.ts';
import { createDemoClient, type DemoClient } from './demo-client.ts';
import type { DemoOptions } from './demo-options.ts';
import { startDemoSystem } from './demo-system.ts';
import { startStopwatch, toManifestPath, type WatchOptions, watchRollout, watchTask } from './demo-watch.ts';

/** So long a Pod of the test cluster takes to start: at once would leave nothing to watch. */
const podStartDelay = '2s';

/** Milliseconds that deleting what was deployed may take. */
const cleanUpTimeoutMs = 30_000;

/** What the demo runs with. */
export interface RunDemoOptions extends DemoOptions {
  /** The program of `npm start`. */
  readonly mainFile: string;
  /** Ends the demo: it cleans up and rejects with the signal's reason. */
  readonly interrupted: AbortSignal;
}

/**
 * Deploys the sample application, watches it until it is stable, and cleans up what it started and deployed. Prints a line for each
 * event.
 *
 * @throws Error with the reason when something did not become stable, or could not be started or cleaned up
 */
export async function runDemo(given: RunDemoOptions): Promise<void> {
  const broken = new AbortController();
  const interrupted = AbortSignal.any([given.interrupted, broken.signal]);
  const options: DemoRun = { ...given, interrupted, broken };
  const { keep, namespace, tokenFile } = options;
  await using started = new AsyncDisposableStack();
  const url = options.url ?? (await startSystem(options, started));
  const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim();
  const client = createDemoClient(url, token);
  const target = { account: await chooseAccount(client, options), namespace };
  const isThrownAway = options.url === undefined && options.kubeconfig === undefined;
  // A failed or interrupted deploy is cleaned up, too.
  if (!keep && !isThrownAway) started.defer(() => cleanUp(client, target));
  const paths = await deployInTime(client, target, options);
  console.log(
    keep ? '\nLook at it:' : '\nThese were asked; with --keep it stays, for you to ask them again:',
  );
  for (const path of ['/credentials', ...paths]) console.log(`  curl -s '${url}${path}'`);
  if (!keep || options.url !== undefined) return;
  console.log(`\nBusdriver goes on at ${url}; Ctrl-C ends it.`);
  await onceAborted(interrupted);
  broken.signal.throwIfAborted();
}

interface DemoRun extends RunDemoOptions {
  /** Aborted with the reason when something that the demo started ends on its own. */
  readonly broken: AbortController;
}

async function startSystem(options: DemoRun, started: AsyncDisposableStack): Promise<string> {
  const { mainFile, interrupted, broken } = options;
  const kubeconfig = options.kubeconfig ?? (await startTestCluster(options, started));
  const getDuration = startStopwatch();
  const system = started.use(await startDemoSystem({ mainFile, kubeconfig, signal: interrupted }));
  void system.exited.then(({ errorOutput }) => {
    broken.abort(new Error(`Busdriver ended: ${errorOutput.trim()}`));
  });
  console.log(`ok Busdriver: ready after ${getDuration()} at ${system.url}`);
  return system.url;
}

/** @returns the kubeconfig of a test cluster */
async function startTestCluster({ interrupted, broken }: DemoRun, started: AsyncDisposableStack) {
  const getDuration = startStopwatch();
  const cluster = await startCluster({
    args: [`--pod-start-delay=${podStartDelay}`],
    report: (line) => console.log(`.. Kubernetes test cluster: ${line}`),
    signal: interrupted,
  });
  started.use(cluster);
  void cluster.exited.then(({ errorOutput }) => {
    broken.abort(new Error(`The test cluster ended: ${errorOutput.trim()}`));
  });
  console.log(
    `ok Kubernetes test cluster: ready after ${getDuration()}; its Pods take ${podStartDelay} to start`,
  );
  return cluster.kubeconfig;
}

async function chooseAccount(client: DemoClient, { account, interrupted }: RunDemoOptions): Promise<string> {
  const accounts = asJsonArray(await client.get('/credentials', interrupted))
    .filter((each) => getPath(each, 'cloudProvider') === 'kubernetes')
    .map((each) => String(getPath(each, 'name')));
  const [first, ...others] = accounts;
  if (first === undefined) throw new Error(`${client.url} has no Kubernetes account`);
  if (account === undefined && others.length === 0) return first;
  if (account !== undefined && accounts.includes(account)) return account;
  const problem = account === undefined ? 'Pass --account NAME' : `There is no account '${account}'`;
  throw new Error(`${problem}: ${client.url} has the Kubernetes accounts ${accounts.join(', ')}`);
}

/** @returns paths under which the API shows what was deployed */
async function deployInTime(
  client: DemoClient,
  target: DemoTarget,
  { interrupted, timeoutMs }: RunDemoOptions,
): Promise<readonly string[]> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await deploy(target, { client, signal: AbortSignal.any([interrupted, timeout]) });
  } catch (error) {
    if (interrupted.aborted) throw interrupted.reason;
    const prefix = timeout.aborted ? `After ${timeoutMs / 1000} s (--timeout): ` : '';
    throw new Error(`${prefix}${getErrorMessage(error)}`, { cause: error });
  }
}

/** Posts the deploy and watches its task, then its objects, as a Deploy (Manifest) stage does. */
async function deploy(target: DemoTarget, watch: WatchOptions): Promise<readonly string[]> {
  const getDuration = startStopwatch();
  const taskId = await watch.client.startOperations(makeDeployRequest(target), watch.signal);
  console.log(`ok POST /kubernetes/ops: deployManifest accepted as task ${taskId} after ${getDuration()}`);
  const task = await watchTask(taskId, watch);
  const names = asJsonArray(getPath(task, 'resultObjects')).flatMap(listNames);
  await watchRollout(names, target, watch);
  console.log(
    `\nDeployed to namespace ${target.namespace} of account ${target.account}, and stable after ${getDuration()}.`,
  );
  return [`/task/${taskId}`, ...names.map((name) => toManifestPath(target, name))];
}

/** Full names (kind, space, name) of what was deployed. */
function listNames(result: JsonValue): string[] {
  const byNamespace = asJsonObject(getPath(result, 'manifestNamesByNamespace')) ?? {};
  return Object.values(byNamespace).flatMap((names) => asJsonArray(names).map(String));
}

/** Deletes what was deployed, through the API. @throws Error when that fails: something stays behind */
async function cleanUp(client: DemoClient, target: DemoTarget): Promise<void> {
  const signal = AbortSignal.timeout(cleanUpTimeoutMs);
  console.log('\nCleaning up:');
  try {
    const id = await client.startOperations(makeDeleteRequest(target), signal);
    await watchTask(id, { client, signal });
  } catch (error) {
    const place = `namespace ${target.namespace} of account ${target.account}`;
    throw new Error(`The application may still be in ${place}: ${getErrorMessage(error)}`, { cause: error });
  }
}
