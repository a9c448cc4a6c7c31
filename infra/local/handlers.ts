import type { Handler } from './invoker.ts';

/**
 * Loads the handler of a function. The bundler recognises the pattern and makes a table of all modules from it, each
 * a chunk of its own that is read on first use.
 *
 * @param module path below `functions/`, without extension
 * @throws Error when there is no such module, or it exports no handler
 */
export async function loadHandler(module: string): Promise<Handler> {
  // Vite, which runs the tests, would otherwise replace the pattern by one that reaches no folder below.
  const loaded: { readonly handler?: unknown } = await import(
    /* @vite-ignore */ `../../functions/${module}.ts`
  );
  if (typeof loaded.handler !== 'function') throw new Error(`functions/${module}.ts exports no handler`);
  return loaded.handler as Handler;
}
