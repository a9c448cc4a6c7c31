import type { APIGatewayProxyEvent } from 'aws-lambda';
import { listHeaderValues } from '../identity/identity-headers.ts';

/** Headers of forwarded requests (RFC 7239; RFC 9110 section 7.6.3; those of proxies, meshes and CDNs), in lower case with hyphens. */
const passedOn = /^(x-)?forwarded(-|$)|^via$|^x-real-|^x-(original|envoy)-|^l5d-|^cf-|(client|user)-?ip$/;

/**
 * Whether a program on this machine sent a request itself: requests forwarded by a proxy on this machine have its address, too. A proxy
 * gives itself away by the headers that it adds, by a `Host` other than this machine, or by HTTP/1.0, which only proxies still speak. A
 * proxy without these signs looks like any program: for it there is `--local-managers off`.
 */
export function isFromThisMachine(event: APIGatewayProxyEvent): boolean {
  const { identity, protocol } = event.requestContext;
  const hosts = listHeaderValues(event, 'host');
  const names = [event.headers, event.multiValueHeaders].flatMap((headers) => Object.keys(headers ?? {}));
  return (
    isLoopbackAddress(identity.sourceIp) &&
    protocol !== 'HTTP/1.0' &&
    hosts.length === 1 &&
    hosts.every(isLoopbackHost) &&
    !names.some((name) => passedOn.test(name.toLowerCase().replaceAll('_', '-')))
  );
}

function isLoopbackAddress(address: string): boolean {
  return /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/.test(address);
}

/** Whether a `Host` always means the machine itself. */
function isLoopbackHost(host: string): boolean {
  const name = host.trim().toLowerCase().replace(/:\d*$/, '');
  return name === 'localhost' || isLoopbackAddress(name.replace(/^\[(.*)\]$/, '$1'));
}
