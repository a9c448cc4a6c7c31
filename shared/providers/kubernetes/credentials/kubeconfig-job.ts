import { type KubeconfigChoice, type KubeconfigContext, parseKubeconfigContext } from './kubeconfig.ts';

/** A request for one context of a kubeconfig. */
export interface KubeconfigQuery {
  readonly text: string;
  readonly choice: KubeconfigChoice;
}

/** @see JobModule */
export const location = import.meta.url;

/** Reads one context of a kubeconfig. @throws what `parseKubeconfigContext` throws */
export async function run({ text, choice }: KubeconfigQuery): Promise<KubeconfigContext> {
  return parseKubeconfigContext(text, choice);
}
