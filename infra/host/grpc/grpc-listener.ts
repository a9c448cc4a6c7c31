import { readFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  createSecureContext,
  createServer as createTlsServer,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls';
import { getErrorMessage } from '../../../shared/core/errors.ts';
import type { Logger } from '../../../shared/core/logger.ts';
import { chooseAddress } from '../host-names.ts';
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

/** A port that is listened at. Disposing closes it; connections stay. */
export interface Listener extends AsyncDisposable {
  readonly address: AddressInfo;
}

/**
 * Listens for connections of agents, with TLS where the settings say so.
 *
 * @throws Error for files that cannot be used, naming their setting; `EADDRINUSE`, `EACCES`
 */
export async function startListener(options: ListenerOptions): Promise<Listener> {
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

async function createSecure(
  security: GrpcSecurity,
  { log, onConnection }: ListenerOptions,
): Promise<CreatedServer> {
  const { clientAuth } = security;
  let files = await readFiles(security);
  const server = createTlsServer({
    ...toContext(files),
    ALPNProtocols: ['h2'],
    handshakeTimeout: handshakeMs,
    requestCert: clientAuth !== 'none',
    rejectUnauthorized: clientAuth === 'require',
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const fault = findFault(socket);
    if (fault === undefined) {
      onConnection(socket);
      return;
    }
    log.warn('a connection of gRPC was refused', { reason: fault });
    socket.destroy();
  });
  server.on('tlsClientError', (error) =>
    log.info('a connection of gRPC was refused', { reason: getErrorMessage(error) }),
  );
  let complaint = '';
  const look = async (): Promise<void> => {
    try {
      const now = await readFiles(security);
      complaint = '';
      if (JSON.stringify(now) === JSON.stringify(files)) return;
      server.setSecureContext(toContext(now));
      files = now;
      log.info('new certificates of gRPC are in force');
    } catch (error) {
      const reason = getErrorMessage(error);
      if (reason !== complaint)
        log.error('new certificates of gRPC cannot be used: the former ones stay in force', { reason });
      complaint = reason;
    }
  };
  const timer = setInterval(() => void look(), reloadMs).unref();
  return { server, stop: () => clearInterval(timer) };
}

/** Why a connection may not go on. A certificate that nobody trusts is worse than none: its owner takes it for good. */
function findFault(socket: TLSSocket): string | undefined {
  if (socket.alpnProtocol !== 'h2') return 'it speaks no HTTP/2';
  if (socket.getPeerX509Certificate() === undefined || socket.authorized) return undefined;
  return `its certificate is not trusted: ${getErrorMessage(socket.authorizationError)}`;
}

/** What the files hold. */
interface SecurityFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
}

/** @throws Error for files that cannot be read, or do not belong together, naming their settings */
async function readFiles(security: GrpcSecurity): Promise<SecurityFiles> {
  const { certificateChain, privateKey, trustCertCollection } = grpcSettingPaths;
  const files: SecurityFiles = {
    cert: await readPem(certificateChain, security.certificateChain),
    key: await readPem(privateKey, security.privateKey),
    ca:
      security.trustCertCollection === undefined
        ? undefined
        : await readPem(trustCertCollection, security.trustCertCollection),
  };
  try {
    createSecureContext(toContext(files));
    return files;
  } catch (error) {
    const named = `${certificateChain}, ${privateKey}, ${trustCertCollection}`;
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

function toContext({ cert, key, ca }: SecurityFiles): TlsOptions {
  return { cert, key, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) };
}
