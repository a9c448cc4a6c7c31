import { networkInterfaces } from 'node:os';

/** Domain of clusters unless configured otherwise. */
const clusterDomain = 'cluster.local';

/**
 * Whether a `Host` is a Service of this Busdriver in its own cluster: `spin-clouddriver`, with its namespace, `svc` and `cluster.local`
 * behind it or not. No name of the internet looks like that, so a web page cannot have a browser take it for its own.
 *
 * @param name lower case, without a port
 * @param prefix what the name of each Service begins with
 */
export function isServiceName(name: string, prefix: string, namespace: string): boolean {
  const [service = '', ...domain] = name.split('.');
  const rest = domain.join('.');
  const domains = ['', namespace, `${namespace}.svc`, `${namespace}.svc.${clusterDomain}`];
  return service.startsWith(prefix) && /^[a-z0-9-]{1,63}$/.test(service) && domains.includes(rest);
}

/**
 * The address to bind: `::`, which takes IPv4 as well, becomes `0.0.0.0` on a machine without IPv6, where nothing could be bound to it.
 *
 * @param interfaces default the machine's
 */
export function chooseAddress(host: string, interfaces = networkInterfaces()): string {
  if (host !== '::') return host;
  const hasIpv6 = Object.values(interfaces).some((each = []) => each.some(({ family }) => family === 'IPv6'));
  return hasIpv6 ? host : '0.0.0.0';
}
