import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';

/** Where a proxy listens. */
export interface ProxyFront extends AsyncDisposable {
  readonly url: string;
  /** PEM of the authority of its certificate; undefined without TLS. */
  readonly authority: string | undefined;
  /** Resets the connection that a request came over. */
  reset(connection: Pick<Socket, 'remotePort'>): void;
}

/**
 * Listens on a free port of 127.0.0.1.
 *
 * @param breaksHandshake given, it speaks TLS, and breaks the handshakes of those connections for which this answers true
 */
export async function listenForProxy(
  listener: RequestListener,
  breaksHandshake?: () => boolean,
): Promise<ProxyFront> {
  const authority = breaksHandshake && new CertificateAuthority();
  const server = authority === undefined ? createHttp(listener) : createTlsServer(authority, listener);
  const sockets = new Map<number | undefined, Socket>();
  // The connections are accepted here, so that one can be broken before TLS begins.
  const door = createTcp((socket) => {
    const { remotePort } = socket;
    sockets.set(remotePort, socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(remotePort));
    if (breaksHandshake?.()) socket.once('data', () => socket.resetAndDestroy());
    else server.emit('connection', socket);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const { port } = door.address() as AddressInfo;
  return {
    url: `${authority === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    authority: authority?.certificate,
    reset: ({ remotePort }) => sockets.get(remotePort)?.resetAndDestroy(),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.values()) socket.destroy();
      await new Promise((resolve) => door.close(resolve));
    },
  };
}

function createTlsServer(authority: CertificateAuthority, listener: RequestListener) {
  const { certificate, key } = authority.issue({ commonName: 'proxy', hosts: ['127.0.0.1'] });
  const server = createHttps({ cert: certificate, key }, listener);
  return server.on('tlsClientError', () => undefined);
}
