import { BlockList, isIP } from 'node:net';

/** Environment variables, by name. */
type Environment = { readonly [name: string]: string | undefined };

/** The most entries of `NO_PROXY` that are checked. */
const entriesMax = 1_000;

/**
 * The environment's proxy for a server, by the rules of Go's programs, so that kubectl and Busdriver take the same route: `HTTPS_PROXY`,
 * for `http` servers `HTTP_PROXY`, unless `NO_PROXY` has the server; each in either case. This machine is never reached through a proxy.
 *
 * @returns undefined if the server is to be reached directly
 * @throws Error that names the variable if it is not an http or https proxy's URL. Its value, which may hold a password, is in no message
 */
export function findEnvironmentProxy(server: URL, environment: Environment): string | undefined {
  const variable = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = read(environment, variable);
  const host = server.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (proxy === '' || isThisMachine(host)) return undefined;
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  const entries = read(environment, 'NO_PROXY').split(',', entriesMax);
  if (entries.some((entry) => matches(entry.trim().toLowerCase(), host, port))) return undefined;
  const url = proxy.includes('://') ? proxy : `http://${proxy}`;
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) {
    throw new Error(`the environment variable ${variable} must be the URL of an http or https proxy`);
  }
  return url;
}

function read(environment: Environment, name: string): string {
  return (environment[name] || environment[name.toLowerCase()] || '').trim();
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** An entry is `*`, an address, a range of them, or a domain with its subdomains; `.domain` is only these. Each may have a port. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return isInRange(entry, host);
  const { name, port: entryPort } = splitPort(entry);
  if (entryPort !== undefined && entryPort !== port) return false;
  if (isIP(name) !== 0) return name === host;
  const domain = name.replace(/^\*?\./, '');
  return host.endsWith(`.${domain}`) || (host === domain && domain === name);
}

function splitPort(entry: string): { readonly name: string; readonly port: string | undefined } {
  if (isIP(entry) !== 0) return { name: entry, port: undefined };
  const [, name = entry, port] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  return { name: name.replace(/^\[(.*)\]$/, '$1'), port };
}

function isInRange(range: string, host: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  const isRange =
    isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 'ipv6' ? 128 : 32);
  if (!isRange || isIP(host) !== isIP(address)) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family);
  return list.check(host, family);
}
