import { getErrorMessage } from '#core/errors.ts';
import type { PlainCalls } from '#providers/kubernetes/calls/plain-calls.ts';
import { CliError } from './cli-error.ts';
import type { CliContext } from './context.ts';

/** Which context of which kubeconfig. */
export interface CallsChoice {
  readonly kubeconfig: string;
  /** Default: its current context. */
  readonly context?: string | undefined;
  /** Limits one call. Default: 15. */
  readonly requestTimeoutSeconds?: number;
}

/** Opens a cluster as an account does, without calling it yet. @throws CliError where the kubeconfig is of no use, with what to do */
export async function openCalls(
  { kubeconfig, context, requestTimeoutSeconds }: CallsChoice,
  { environment, terminal }: Pick<CliContext, 'environment' | 'terminal'>,
  next?: string,
): Promise<PlainCalls> {
  // Few commands call clusters: the others start without what that takes.
  const [library, { systemClock }] = await Promise.all([
    import('#providers/kubernetes/calls/plain-calls.ts'),
    import('#platform/services/system.ts'),
  ]);
  const silent = () => {};
  const tell = (message: string) => terminal.tell(message);
  const account = { name: kubeconfig, kubeconfigFile: kubeconfig, context, requestTimeoutSeconds };
  const calls = new library.PlainCalls({
    connection: { ...account, serviceAccount: false, placement: 'local' },
    clock: systemClock,
    log: { debug: silent, info: silent, warn: tell, error: tell },
    environment,
  });
  try {
    await calls.locate();
    return calls;
  } catch (error) {
    await calls[Symbol.asyncDispose]();
    throw new CliError(getErrorMessage(error), { next, cause: error });
  }
}
