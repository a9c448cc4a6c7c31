import { getErrorMessage } from '#core/errors.ts';
import { systemClock } from '#platform/services/system.ts';
import { ClusterApis } from '#providers/kubernetes/calls/cluster-apis.ts';
import { CliError } from './cli-error.ts';
import type { CliContext } from './context.ts';

/** Which context of which kubeconfig. */
export interface KubeconfigChoice {
  readonly kubeconfig: string;
  /** Default: its current context. */
  readonly context?: string | undefined;
  /** Limits one call. Default: 15. */
  readonly requestTimeoutSeconds?: number;
}

/**
 * Opens a cluster as an account does, without calling it yet. Few commands do: the others are to load nothing of it.
 *
 * @throws CliError where the kubeconfig is of no use, with what to do
 */
export async function openCluster(
  { kubeconfig, context, requestTimeoutSeconds }: KubeconfigChoice,
  { environment, terminal }: Pick<CliContext, 'environment' | 'terminal'>,
  next?: string,
): Promise<ClusterApis> {
  const silent = () => {};
  const tell = (message: string) => terminal.tell(message);
  const account = { name: kubeconfig, kubeconfigFile: kubeconfig, context, requestTimeoutSeconds };
  const apis = new ClusterApis({
    connection: { ...account, serviceAccount: false, placement: 'local' },
    clock: systemClock,
    log: { debug: silent, info: silent, warn: tell, error: tell },
    environment,
  });
  try {
    await apis.locate();
    return apis;
  } catch (error) {
    await apis[Symbol.asyncDispose]();
    throw new CliError(getErrorMessage(error), { next, cause: error });
  }
}
