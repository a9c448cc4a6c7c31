import type { APIGatewayProxyEvent } from 'aws-lambda';
import { listHeaderValues } from '../identity/identity-headers.ts';

/**
 * Headers by which whoever passes a request on says so (RFC 7239, RFC 9110 section 7.6.3, and what proxies, meshes and content delivery
 * networks add), in lower case with hyphens.
 */
const passedOn = /^(x-)?forwarded(-|$)|^via$|^x-real-|^x-(original|envoy)-|^l5d-|^cf-|(client|user)-?ip$/;

/**
 * Whether a program of this machine sent a request, with nobody in between who passes on what others ask: whoever comes through a proxy
 * of this machine has its address, too. A proxy shows by the headers that it adds, by a `Host` that is not this machine's, or by
 * speaking HTTP/1.0, which only proxies still do. One that shows by nothing looks like any program: `--local-managers off` is for those.
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

/** Whether what stands in `Host` always means the machine itself. */
function isLoopbackHost(host: string): boolean {
  const name = host.trim().toLowerCase().replace(/:\d*$/, '');
  return name === 'localhost' || isLoopbackAddress(name.replace(/^\[(.*)\]$/, '$1'));
}
