import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';

/** A client whose calls to the API server a test can see and interrupt. */
export interface WatchedClient {
  readonly client: KubernetesClient;
  /** The methods called so far that reach for objects: `get`, `create`, `replace`, `patch`. */
  readonly calls: string[];
  /** Runs before the call with this number, counted from 1, goes out. */
  interrupt(call: number, action: () => Promise<unknown>): void;
}

const watchedMethods = new Set(['get', 'create', 'replace', 'patch']);

/** Wraps a client of the real API server. */
export function watchClient(inner: KubernetesClient): WatchedClient {
  const calls: string[] = [];
  const actions = new Map<number, () => Promise<unknown>>();
  const client = new Proxy(inner, {
    get(target, key) {
      const method: unknown = Reflect.get(target, key, target);
      if (typeof method !== 'function') return method;
      if (!watchedMethods.has(String(key))) return method.bind(target);
      return async (...args: unknown[]) => {
        calls.push(String(key));
        await actions.get(calls.length)?.();
        return method.apply(target, args);
      };
    },
  });
  return { client, calls, interrupt: (call, action) => void actions.set(call, action) };
}
