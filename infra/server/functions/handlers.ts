import type { ServiceFunction } from '#platform/services/function.ts';
import type { Services } from '#platform/services/services.ts';
import type { Handler, LoadHandler } from './invoker.ts';

/**
 * Loads the handler of a function.
 *
 * @param module path below `functions/`, without extension
 * @throws Error when there is no such module, or it exports no handler
 */
export async function loadHandler(module: string): Promise<Handler> {
  const { importFunction } = await import('./function-modules.ts');
  const loaded = await importFunction(module);
  if (typeof loaded.handler !== 'function') throw new Error(`functions/${module}.ts exports no handler`);
  return loaded.handler as Handler;
}

/**
 * Loads handlers that work with the services of an installation, not with those of the process: it may run several.
 *
 * @param services awaited when a handler is loaded
 */
export function bindHandlers(load: LoadHandler, services: Promise<Services>): LoadHandler {
  const bound = new Map<string, Promise<Handler>>();
  const bind = async (module: string): Promise<Handler> => bindHandler(await load(module), await services);
  // An import costs a request a noticeable part of its time, even of what is there already.
  return (module) => {
    const known = bound.get(module);
    if (known !== undefined) return known;
    const handler = bind(module);
    bound.set(module, handler);
    // What could not be loaded is tried again.
    handler.catch(() => bound.delete(module));
    return handler;
  };
}

/** Handlers that were made elsewhere than in `shared/` open nothing. */
function bindHandler(handler: Handler & Partial<ServiceFunction<Handler>>, services: Services): Handler {
  return handler.withServices?.(services) ?? handler;
}
