import {
  countYamlMarks,
  type KubeconfigChoice,
  type KubeconfigContext,
  parseKubeconfigContext,
} from './kubeconfig.ts';

/** Characters, and those with a meaning in YAML, of a kubeconfig that is read at once: about those of 150 clusters. */
const shortKubeconfig = { lengthMax: 256 * 1024, marksMax: 8_000 };

/** The account of a kubeconfig, with its choice. */
export interface KubeconfigOwner extends KubeconfigChoice {
  /** Name of the account. */
  readonly name: string;
  readonly placement: 'local' | 'deployed';
  /** Whether the account was made by an API. Default: false. */
  readonly isConfined?: boolean | undefined;
}

/**
 * Reads one context of a kubeconfig. Long ones that came by an API are read in a thread, so that others need not wait for the processor.
 *
 * @throws what `parseKubeconfigContext` throws, and `ThreadPool.run`.
 */
export async function readKubeconfigContext(
  text: string,
  { name, placement, isConfined = false, context, cluster, user }: KubeconfigOwner,
): Promise<KubeconfigContext> {
  const choice = { context, cluster, user };
  const { lengthMax, marksMax } = shortKubeconfig;
  const isAtOnce = placement === 'deployed' || !isConfined;
  if (isAtOnce || (text.length <= lengthMax && countYamlMarks(text) <= marksMax)) {
    return parseKubeconfigContext(text, choice);
  }
  const { threadsOfProcess } = await import('#threads/thread-pool.ts');
  return threadsOfProcess.run({
    ...{ load: () => import('./kubeconfig-job.ts'), query: { text, choice } },
    ...{ account: name, what: 'The kubeconfig', signal: new AbortController().signal },
  });
}
