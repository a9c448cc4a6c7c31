import { homedir } from 'node:os';

/** Where Clouddriver looks for the kubeconfig of an account that names none: kubectl's own. */
export const defaultKubeconfigFile = '~/.kube/config';

/**
 * The path of a kubeconfig of this machine.
 *
 * @param file as in an account; undefined for the default one. A `~` at its beginning is the home directory.
 */
export function toKubeconfigPath(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  return (file || defaultKubeconfigFile).replace(/^~(?=\/|$)/, () => environment['HOME'] || homedir());
}
