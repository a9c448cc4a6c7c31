import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { onceAborted, untilAborted } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { GoUnavailableError } from '#infra/tools/test-cluster/go-toolchain.ts';
import { makeFolderPrivate } from '#infra/tools/test-cluster/private-folder.ts';
import { readEnvironment } from '#platform/config.ts';
import { watchStopSignals } from '#platform/services/system.ts';
import type { AccountProblems } from '#provider-kit/services/providers.ts';
import { loadSettings } from '#settings/live/settings.ts';
import type { CliOptions } from './cli-options.ts';
import { formatReadyLine, formatReadyMessage, formatWarnings, type Ready } from './ready-message.ts';
import { type Runtime, startRuntime } from './runtime.ts';
import { toDiskMessage } from './storage-message.ts';

/** What invocations under way get when the process stops, in milliseconds. */
const shutdownTimeoutMs = 10_000;

/**
 * Runs the system until SIGTERM, SIGINT or the end of a parent that holds an IPC channel, then drains it; before it is ready these end
 * the start, and what has been started. A second signal ends the process at once.
 *
 * @param print writes the ready message
 * @throws Error with a message for the user when it cannot start
 */
export async function runUntilStopped(options: CliOptions, print: (text: string) => void): Promise<void> {
  const stop = watchStopSignals('Stopped before it was ready');
  await using stack = new AsyncDisposableStack();
  const ready = await becomeReady({ options, stack, signal: stop }).catch((error: unknown) => {
    // Whatever fails then fails since it was to end.
    if (!stop.aborted) throw error;
  });
  if (ready === undefined) return report('Stopped before it was ready: nothing of it runs any more.');
  print(options.json ? formatReadyLine(ready) : formatReadyMessage(ready));
  for (const warning of formatWarnings(ready)) report(warning);
  await onceAborted(stop);
  report('Stopping: running operations reach a safe point first. Once more ends at once.');
}

/** Starts everything. @returns what there is to tell @throws the signal's reason; Error with a message for the user */
async function becomeReady({ options, stack, signal }: Choice): Promise<Ready> {
  const say = () => report('Stopping before it is ready. Once more ends at once.');
  signal.addEventListener('abort', say);
  await probeAddress(options);
  const kubeconfig = await chooseKubeconfig({ options, stack, signal });
  const settings = { ...options, kubeconfig };
  const environment = readEnvironment();
  await untilAborted(loadSettings({ ...settings, files: options.configFiles, environment }), signal);
  await makeFolderPrivate(options.dataDir, report);
  signal.throwIfAborted();
  const runtime = stack.use(await start({ ...settings, shutdownTimeoutMs }));
  const accounts = await untilAborted(listAccounts(runtime), signal);
  const { rejectedAccounts: leftOut, accountWarnings: doubts } = await listProblems(runtime);
  signal.throwIfAborted();
  signal.removeEventListener('abort', say);
  return { ...runtime, accounts, leftOut, doubts, options: settings };
}

/** What is started, and what ends it. */
interface Choice {
  readonly options: CliOptions;
  readonly stack: AsyncDisposableStack;
  readonly signal: AbortSignal;
}

/** The user's kubeconfig, or that of a test cluster where the user has named no accounts at all. */
async function chooseKubeconfig({ options, stack, signal }: Choice): Promise<string | undefined> {
  if (options.kubeconfig !== undefined || options.configFiles.length > 0) return options.kubeconfig;
  const missing = 'There is no --config, no --kubeconfig, no $KUBECONFIG and no ~/.kube/config';
  report(`${missing}: starting a Kubernetes test cluster.`);
  await makeFolderPrivate(options.dataDir, report);
  try {
    const cluster = await startCluster({ dir: path.join(options.dataDir, 'cluster'), report, signal });
    stack.use(cluster);
    void cluster.exited.then(({ errorOutput }) => {
      if (!signal.aborted) report(`The test cluster ended: ${errorOutput.trim()}`);
    });
    return cluster.kubeconfig;
  } catch (error) {
    if (!(error instanceof GoUnavailableError)) throw error;
    throw new Error(`No test cluster can be started, either. ${error.message}`);
  }
}

async function start(options: Parameters<typeof startRuntime>[0]): Promise<Runtime> {
  try {
    return await startRuntime(options);
  } catch (error) {
    const message = toAddressMessage(error, options) ?? toDiskMessage(error, options.dataDir);
    throw message === undefined ? error : new Error(message);
  }
}

/** Binds the address, and lets go of it: before a test cluster is built, which takes minutes. @throws Error that says what to do */
async function probeAddress(options: CliOptions): Promise<void> {
  const server = createServer();
  try {
    server.listen(options.port, options.host);
    await once(server, 'listening');
  } catch (error) {
    const message = toAddressMessage(error, options);
    throw message === undefined ? error : new Error(message);
  } finally {
    server.close();
  }
}

/** What to do about an address that cannot be bound; undefined for other errors. */
function toAddressMessage(
  error: unknown,
  { host, port }: Pick<CliOptions, 'host' | 'port'>,
): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const address = `${host}:${port}`;
  if (code === 'EADDRINUSE') return `${address} is in use: stop what listens there, or pass --port`;
  if (code === 'EACCES') return `${address} may not be bound: pass a --port from 1024`;
  const isForeign = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
  return isForeign ? `--host ${host} is no address of this machine` : undefined;
}

/** Names of the accounts, as the API tells them; this also loads what the first request would have to wait for. */
async function listAccounts(runtime: Runtime): Promise<readonly string[]> {
  const answer = await runtime.get('/credentials').catch(getErrorMessage);
  if (Array.isArray(answer)) return answer.map(({ name }) => String(name));
  report(`The accounts cannot be listed: ${JSON.stringify(answer)}`);
  return [];
}

/** What the functions, which share this process and its settings, have to tell of accounts. */
async function listProblems({ services }: Runtime): Promise<AccountProblems> {
  const { listAccountProblems } = await import('#provider-kit/services/providers.ts');
  return listAccountProblems(services).catch(() => ({ rejectedAccounts: [], accountWarnings: [] }));
}

function report(line: string): void {
  console.error(line);
}
