import path from 'node:path';
import { onceAborted } from '#core/deadline.ts';
import {
  formatHelp,
  many,
  type OptionTable,
  one,
  optional,
  parseOptions,
  read,
  toggle,
} from '#infra/options.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { buildCluster } from './cluster-build.ts';
import { keepFilesPrivate, makeFolderPrivate } from './private-folder.ts';

const text = (flags: string, what: string) => optional(flags, what, read.text);
const texts = (flags: string, what: string) => many(flags, what, read.text);

/** Flags that `kubecluster` itself understands. */
const passedOn: OptionTable = {
  kubeconfig: text('--kubeconfig <FILE>', 'where to write the kubeconfig (default: DIR/kubeconfig)'),
  nodes: text('--nodes <N>', 'number of fake nodes (default 2)'),
  podStartDelay: text('--pod-start-delay <TIME>', 'time a Pod stays in ContainerCreating (default 0s)'),
  podRunFor: text('--pod-run-for <TIME>', 'running time of Pods that end by themselves (default 1s)'),
  v: text('--v <N>', 'verbosity of DIR/cluster.log (default 0)'),
  kubelet: toggle('--no-kubelet', 'run no fake kubelet: Pods stay pending'),
  scheduler: toggle('--no-scheduler', 'run no kube-scheduler'),
  controllerManager: toggle('--no-controller-manager', 'run no kube-controller-manager'),
  etcdServers: text('--etcd-servers <URL>', 'use this etcd instead of the embedded one'),
  apiserverArg: texts('--apiserver-arg <FLAG>', 'flag for kube-apiserver'),
  controllerManagerArg: texts('--controller-manager-arg <FLAG>', 'flag for kube-controller-manager'),
  schedulerArg: texts('--scheduler-arg <FLAG>', 'flag for kube-scheduler'),
};
for (const option of Object.values(passedOn)) {
  option.helpGroup(
    'Passed on to kubecluster (TIME such as 500ms or 2s; FLAG such as --max-requests-inflight=100):',
  );
}

const program = {
  name: 'npm run cluster --',
  about:
    'Runs a Kubernetes control plane (test/cluster) on this machine until Ctrl-C, building it on first use with Go.',
  options: {
    dir: text('--dir <DIR>', 'keep the cluster in DIR (default: a temporary folder, removed at the end)'),
    port: one('--port <PORT>=0', 'port of the API server on 127.0.0.1; 0 takes any free one', read.port),
    buildOnly: toggle('--build-only', 'build kubecluster and kubectl, print their paths and end'),
    ...passedOn,
  },
};

/** What kubecluster shall get, in its own spelling. */
function toClusterArguments(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(passedOn).flatMap(([name, { long, negate }]) => {
    if (negate) return values[name] === false ? [`${long}`] : [];
    return [values[name] ?? []].flat().map((value) => `${long}=${value}`);
  });
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
  const values = parseOptions(program, process.argv.slice(2));
  if (values.help) {
    console.log(formatHelp(program));
    return 0;
  }
  if (values.buildOnly) {
    const { kubecluster, kubectl } = await buildCluster({ report, signal });
    console.log(`${kubecluster}\n${kubectl}`);
    return 0;
  }
  const { dir, port } = values;
  keepFilesPrivate();
  if (dir !== undefined) await makeFolderPrivate(path.resolve(dir), report);
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
