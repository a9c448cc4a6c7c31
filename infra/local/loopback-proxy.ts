import { readEnvironment, setEnvironment } from '#platform/config.ts';

/**
 * Has this process, and what it starts, reach this machine directly, whatever proxy the environment names: with `NODE_USE_ENV_PROXY=1`
 * Node would ask a proxy for 127.0.0.1, too, which is another machine there. Go and curl never do.
 */
export function bypassProxiesOnLoopback(): void {
  const { NO_PROXY, no_proxy } = readEnvironment();
  const list = [no_proxy || NO_PROXY, 'localhost', '127.0.0.1', '::1'].filter(Boolean).join(',');
  setEnvironment({ NO_PROXY: list, no_proxy: list });
}
