import path from 'node:path';
import { parseArgs } from 'node:util';
import { onceAborted } from '#core/deadline.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { buildCluster } from './cluster-build.ts';
import { keepFilesPrivate, makeFolderPrivate } from './private-folder.ts';

interface Flag {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly help: string;
}

const toggle = (help: string) => ({ type: 'boolean', help }) as const satisfies Flag;
const text = (value: string, help: string) => ({ type: 'string', value, help }) as const satisfies Flag;
const texts = (value: string, help: string) =>
  ({ type: 'string', multiple: true, value, help: `${help} (repeatable)` }) as const satisfies Flag;

/** Flags of this command. */
const ownFlags = {
  dir: text('DIR', 'keep the cluster in DIR (default: a temporary folder, removed at the end)'),
  port: text('PORT', 'port of the API server on 127.0.0.1 (default: any free one)'),
  'build-only': toggle('build kubecluster and kubectl, print their paths and end'),
  help: toggle('print this help'),
};

/** Flags that `kubecluster` itself understands. */
const clusterFlags: Readonly<Record<string, Flag>> = {
  kubeconfig: text('FILE', 'where to write the kubeconfig (default: DIR/kubeconfig)'),
  nodes: text('N', 'number of fake nodes (default 2)'),
  'pod-start-delay': text('TIME', 'time a Pod stays in ContainerCreating (default 0s)'),
  'pod-run-for': text('TIME', 'running time of Pods that end by themselves (default 1s)'),
  v: text('N', 'verbosity of DIR/cluster.log (default 0)'),
  'no-kubelet': toggle('run no fake kubelet: Pods stay pending'),
  'no-scheduler': toggle('run no kube-scheduler'),
  'no-controller-manager': toggle('run no kube-controller-manager'),
  'etcd-servers': text('URL', 'use this etcd instead of the embedded one'),
  'apiserver-arg': texts('FLAG', 'flag for kube-apiserver'),
  'controller-manager-arg': texts('FLAG', 'flag for kube-controller-manager'),
  'scheduler-arg': texts('FLAG', 'flag for kube-scheduler'),
};

function formatHelp(): string {
  return [
    'Usage: npm run cluster -- [options]',
    '',
    'Runs a Kubernetes control plane (test/cluster) on this machine until Ctrl-C, building it on first use with Go.',
    '',
    ...formatFlags(ownFlags),
    '',
    'Passed on to kubecluster (TIME such as 500ms or 2s; FLAG such as --max-requests-inflight=100):',
    ...formatFlags(clusterFlags),
  ].join('\n');
}

function formatFlags(flags: Readonly<Record<string, Flag>>): string[] {
  return Object.entries(flags).map(([name, { value, help }]) => {
    const usage = value === undefined ? `--${name}` : `--${name}=${value}`;
    return `  ${usage.padEnd(30)} ${help}`;
  });
}

/** The flags among `values` that kubecluster shall get, in its own spelling. */
function toClusterArguments(values: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(clusterFlags).flatMap((name) =>
    [values[name] ?? []].flat().map((value) => `--${name}=${value}`),
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError(`--port must be a number from 0 to 65535, not '${text}'`);
  }
  return port;
}

function report(line: string): void {
  console.error(line);
}

function describeCluster({ server, kubeconfig, kubectl, dir }: Cluster): string {
  return [
    `Kubernetes answers at ${server}`,
    `  export KUBECONFIG=${kubeconfig}`,
    `  kubectl  ${kubectl}`,
    `  log      ${path.join(dir, 'cluster.log')}`,
    'Ctrl-C stops it.',
  ].join('\n');
}

/** Runs the command line. @returns the exit code */
async function main(signal: AbortSignal): Promise<number> {
  const { values } = parseArgs({ options: { ...clusterFlags, ...ownFlags } });
  if (values.help) {
    console.log(formatHelp());
    return 0;
  }
  if (values['build-only']) {
    const { kubecluster, kubectl } = await buildCluster({ report, signal });
    console.log(`${kubecluster}\n${kubectl}`);
    return 0;
  }
  const { dir } = values;
  keepFilesPrivate();
  if (dir !== undefined) await makeFolderPrivate(path.resolve(dir), report);
  const port = parsePort(values.port ?? '0');
  await using cluster = await startCluster({ dir, port, args: toClusterArguments(values), report, signal });
  console.log(describeCluster(cluster));
  const exit = await Promise.race([cluster.exited, onceAborted(signal)]);
  if (exit === undefined) return 0;
  report(`The cluster ended: ${exit.errorOutput.trim()}`);
  return 1;
}

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
try {
  process.exitCode = await main(interrupted.signal);
} catch (error) {
  if (!interrupted.signal.aborted) report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
