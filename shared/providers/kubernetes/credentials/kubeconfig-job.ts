import { type KubeconfigChoice, type KubeconfigContext, parseKubeconfigContext } from './kubeconfig.ts';

/** @see JobModule */
export const location = import.meta.url;

/** Reads one context of a kubeconfig. @throws what `parseKubeconfigContext` throws */
export async function run({
  text,
  choice,
}: {
  readonly text: string;
  readonly choice: KubeconfigChoice;
}): Promise<KubeconfigContext> {
  return parseKubeconfigContext(text, choice);
}
