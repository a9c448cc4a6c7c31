import { readFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  createSecureContext,
  createServer as createTlsServer,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { chooseAddress } from '../peers/host-names.ts';
import { type GrpcSecurity, type GrpcSettings, grpcSettingPaths } from './grpc-settings.ts';

/** Connections at a time: an agent has one. */
const connectionsMax = 4_096;

/** Milliseconds that a client has for its handshake. */
const handshakeMs = 10_000;

/** Milliseconds between two looks whether files of TLS have changed. */
const reloadMs = 2_000;

/** Bytes of a file of TLS at most. */
const fileBytesMax = 1 << 20;

/** How to listen. */
export interface ListenerOptions {
  readonly settings: Pick<GrpcSettings, 'address' | 'port' | 'security'>;
  readonly log: Logger;
  /** Takes a connection that may speak HTTP/2. */
  onConnection(socket: Socket): void;
}

/**
 * Listens for connections of agents, with TLS where the settings say so. Disposing closes the port; connections stay.
 *
 * @throws Error for files that cannot be used, naming their setting; `EADDRINUSE`, `EACCES`
 */
export async function startListener(options: ListenerOptions) {
  const { address, port, security } = options.settings;
  const { server, stop } =
    security === undefined ? createPlain(options) : await createSecure(security, options);
  server.maxConnections = connectionsMax;
  const host = chooseAddress(address.replace(/^\[(.*)\]$/, '$1'));
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen({ host, port, backlog: 4_096 }, resolve);
    });
  } catch (error) {
    stop();
    throw error;
  }
  server.on('error', (error) => options.log.error('the port of gRPC has failed', { error }));
  return {
    address: server.address() as AddressInfo,
    async [Symbol.asyncDispose]() {
      stop();
      // Its connections end when gRPC has drained them.
      server.close();
    },
  };
}

interface CreatedServer {
  readonly server: Server;
  stop(): void;
}

function createPlain({ onConnection }: ListenerOptions): CreatedServer {
  return { server: createServer({ noDelay: true }, onConnection), stop: () => undefined };
}

async function createSecure(security: GrpcSecurity, options: ListenerOptions): Promise<CreatedServer> {
  const { log, onConnection } = options;
  let files = await readFiles(security);
  const server = createTlsServer({
    ...toContext(files),
    ALPNProtocols: ['h2'],
    handshakeTimeout: handshakeMs,
    requestCert: security.clientAuth !== 'none',
    // Looked at below: who is refused here leaves no reason.
    rejectUnauthorized: false,
  });
  const certified = new Set<TLSSocket>();
  server.on('secureConnection', (socket: TLSSocket) => {
    const fault = findFault(socket, security);
    if (fault === undefined) {
      if (socket.authorized) remember(certified, socket);
      onConnection(socket);
      return;
    }
    log.warn('a connection of gRPC was refused', { reason: fault });
    socket.destroy();
  });
  server.on('tlsClientError', (error) =>
    log.info('a connection of gRPC was refused', { reason: getErrorMessage(error) }),
  );
  const timer = watchFiles(security, log, (now) => {
    const isRevoking = now.crl !== files.crl;
    if (!isRevoking && JSON.stringify(now) === JSON.stringify(files)) return;
    server.setSecureContext(toContext(now));
    files = now;
    log.info('new certificates of gRPC are in force');
    // Which of them are revoked now is known by their next handshake.
    if (isRevoking) for (const socket of certified) socket.destroy();
  });
  return { server, stop: () => clearInterval(timer) };
}

function remember(sockets: Set<TLSSocket>, socket: TLSSocket): void {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
}

/** Reads the files again and again. What cannot be used is told once, and changes nothing. */
function watchFiles(
  security: GrpcSecurity,
  log: Logger,
  onFiles: (files: SecurityFiles) => void,
): NodeJS.Timeout {
  let complaint = '';
  const look = async (): Promise<void> => {
    try {
      onFiles(await readFiles(security));
      complaint = '';
    } catch (error) {
      const reason = getErrorMessage(error);
      if (reason !== complaint)
        log.error('new certificates of gRPC cannot be used: the former ones stay in force', { reason });
      complaint = reason;
    }
  };
  return setInterval(() => void look(), reloadMs).unref();
}

/** Why a connection may not go on. A certificate that nobody trusts is worse than none: its owner takes it for good. */
function findFault(socket: TLSSocket, { clientAuth }: GrpcSecurity): string | undefined {
  if (socket.alpnProtocol !== 'h2') return 'it speaks no HTTP/2';
  // Asked first: a TLS session that is resumed without a certificate counts as authorized in Node.
  if (socket.getPeerX509Certificate() === undefined)
    return clientAuth === 'require' ? 'it shows no certificate' : undefined;
  if (socket.authorized) return undefined;
  return `its certificate is not trusted: ${getErrorMessage(socket.authorizationError)}`;
}

/** What the files hold. */
interface SecurityFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
  readonly crl: string | undefined;
}

/** @throws Error for files that cannot be read, or do not belong together, naming their settings */
async function readFiles(security: GrpcSecurity): Promise<SecurityFiles> {
  const { certificateChain, privateKey, trustCertCollection, certificateRevocationList } = grpcSettingPaths;
  const readIf = (setting: string, file: string | undefined) =>
    file === undefined ? undefined : readPem(setting, file);
  const files: SecurityFiles = {
    cert: await readPem(certificateChain, security.certificateChain),
    key: await readPem(privateKey, security.privateKey),
    ca: await readIf(trustCertCollection, security.trustCertCollection),
    crl: await readIf(certificateRevocationList, security.certificateRevocationList),
  };
  try {
    createSecureContext(toContext(files));
    return files;
  } catch (error) {
    const named = [certificateChain, privateKey, trustCertCollection, certificateRevocationList].join(', ');
    throw new Error(`${named}: expected PEM that belongs together: ${getErrorMessage(error)}`);
  }
}

async function readPem(setting: string, file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > fileBytesMax) throw new Error(`it has ${size} bytes: at most ${fileBytesMax} are read`);
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Error(`${setting}: ${file} cannot be read: ${getErrorMessage(error)}`);
  }
}

function toContext({ cert, key, ca, crl }: SecurityFiles): TlsOptions {
  return { cert, key, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }), ...(crl && { crl }) };
}
