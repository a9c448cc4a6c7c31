import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Whom a server on this machine answers. */
export interface LoopbackGuardOptions {
  /** Host names that are accepted besides `localhost` and any IP address; lower case, without port. */
  readonly allowedHosts?: readonly string[];
  /** Whether a further name is accepted. Default: none is. */
  readonly allowsHost?: ((name: string) => boolean) | undefined;
}

/** Why a request is refused, and the status that says so. */
export interface Refusal {
  readonly status: 400 | 403;
  readonly reason: string;
}

/**
 * Why a request must be refused, or undefined when it may pass.
 *
 * A web page in the user's browser can send requests to 127.0.0.1, and by DNS rebinding even read the answers. Both
 * show: a browser names the page in `Origin`, and a rebound name stands in `Host`. An IP address in `Host` cannot be
 * rebound, so any is accepted. Of several headers `Host` (RFC 9112, section 3.2) nobody could tell which counts: what stands before this
 * server may have looked at another one.
 */
export function findRefusal(
  request: IncomingMessage,
  options: LoopbackGuardOptions = {},
): Refusal | undefined {
  const { host, origin } = request.headers;
  const hosts = countHosts(request);
  if (hosts > 1) return { status: 400, reason: `The request has ${hosts} headers Host: expected one` };
  if (host !== undefined && !isKnownHost(host, options)) {
    return { status: 403, reason: `Host '${host}' is not this server's` };
  }
  const scheme = request.socket instanceof TLSSocket ? 'https' : 'http';
  if (origin !== undefined && origin !== `${scheme}://${host}`)
    return { status: 403, reason: `Origin '${origin}' may not call this server` };
  return undefined;
}

/** Node has the first of them in `headers`. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && /^host$/i.test(name))
    .length;
}

function isKnownHost(host: string, { allowedHosts = [], allowsHost }: LoopbackGuardOptions): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  const address = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  const isOwn = name === 'localhost' || isIP(address) !== 0 || allowedHosts.includes(name);
  return isOwn || allowsHost?.(name) === true;
}
