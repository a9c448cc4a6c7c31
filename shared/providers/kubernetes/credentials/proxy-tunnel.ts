import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import { headerBytesMax } from '../api/answer-limits.ts';

/** How to reach an API server behind a proxy. */
export interface ProxyTunnel {
  /** `http` or `https`, with the proxy's user and password if it requires them. */
  readonly proxyUrl: string;
  /** TLS with the API server itself. */
  readonly tls: tls.ConnectionOptions;
  readonly connectTimeoutMs: number;
}

/**
 * A connector for undici that opens connections through an HTTP proxy, by CONNECT, as kubectl does for `proxy-url`.
 *
 * Not undici's own `ProxyAgent`: in 8.12 its `connectTimeout` covers only the connection to the proxy. A proxy that is silent afterwards,
 * or answers byte by byte, holds a request past its time-outs and its signal, and the connection stays open.
 *
 * @throws Error for a proxy of another kind. The URL, which may hold a password, is in no message.
 */
export function createProxyConnector(tunnel: ProxyTunnel): buildConnector.connector {
  const proxy = URL.canParse(tunnel.proxyUrl) ? new URL(tunnel.proxyUrl) : undefined;
  if (proxy?.protocol !== 'http:' && proxy?.protocol !== 'https:') {
    throw new Error(
      `the cluster's proxy-url must be an http or https URL (found ${proxy?.protocol ?? 'no URL'})`,
    );
  }
  return (target, callback) => {
    connectThroughProxy(proxy, target, tunnel).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

async function connectThroughProxy(
  proxy: URL,
  target: buildConnector.Options,
  tunnel: ProxyTunnel,
): Promise<Socket | tls.TLSSocket> {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  const socket = await openTunnel(proxy, `${target.hostname}:${port}`, tunnel.connectTimeoutMs);
  if (target.protocol !== 'https:') return socket;
  const servername = tunnel.tls.servername ?? target.servername ?? '';
  const secured = tls.connect({
    ...tunnel.tls,
    ALPNProtocols: ['http/1.1'],
    socket,
    host: target.hostname,
    servername,
  });
  const { promise, resolve, reject } = Promise.withResolvers<tls.TLSSocket>();
  const timer = setTimeout(
    () => secured.destroy(new Error('no TLS connection in time')),
    tunnel.connectTimeoutMs,
  );
  secured.once('secureConnect', () => resolve(secured)).once('error', reject);
  return promise.finally(() => clearTimeout(timer));
}

function openTunnel(proxy: URL, authority: string, timeoutMs: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const request = (proxy.protocol === 'https:' ? https : http).request({
    host: proxy.hostname,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    agent: false,
    maxHeaderSize: headerBytesMax,
    headers: {
      host: authority,
      ...(proxy.username !== '' && {
        'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}`,
      }),
    },
  });
  request.once('connect', (response, socket) => {
    if (response.statusCode === 200) return resolve(socket.setNoDelay(true));
    socket.destroy();
    reject(new Error(`the proxy refused the tunnel (HTTP ${response.statusCode})`));
  });
  // Limits the whole answer: a proxy that sends a byte now and then never counts as silent.
  const timer = setTimeout(() => request.destroy(new Error('the proxy did not answer')), timeoutMs);
  request.once('error', reject);
  request.end();
  return promise.finally(() => clearTimeout(timer));
}
