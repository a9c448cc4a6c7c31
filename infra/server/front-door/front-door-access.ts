import { hash, timingSafeEqual, type X509Certificate } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsServerOptions } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { APIGatewayEventClientCertificate } from 'aws-lambda';
import { toDistinguishedName } from '#access/identity/client-certificate.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { HttpError } from '../functions/http-error.ts';

/** Characters of the shortest token that is taken. */
export const tokenLengthMin = 16;

/** Bytes of the largest token file, certificate or key that is read. */
export const accessFileBytesMax = 1 << 20;

/** Milliseconds for which a token is taken for the one in its file: a new one is in force within a second. */
export const tokenFreshMs = 1_000;

/** Milliseconds that a client has for its handshake. */
const handshakeTimeoutMs = 10_000;

/** The path that is open to all callers: it answers `UP`, and monitors know no secrets. */
const openPath = '/health';

/** Below it agents call, who prove by tokens of their own who they are. */
const agentPaths = '/agent/v1/';

/** What the API asks of those who call it; all undefined asks nothing. Paths are absolute. */
export interface FrontDoorFiles {
  /** A file with a bearer token. */
  readonly tokenFile?: string | undefined;
  /** Certificate chain of the server, PEM. */
  readonly tlsCert?: string | undefined;
  /** Its private key, PEM. */
  readonly tlsKey?: string | undefined;
  /** Certificates that sign those of clients, PEM; every client must show one then. */
  readonly tlsClientCa?: string | undefined;
}

/** A file of the front door cannot be used; the message names the option, the file, and what is expected. */
export class AccessFileError extends Error {
  override readonly name = 'AccessFileError';
}

/** Decides who may call the API of this machine. */
export class FrontDoorAccess {
  readonly #token: TokenFile | undefined;
  readonly #tls: TlsServerOptions | undefined;

  /** Without parameters it asks nothing. */
  constructor(token?: TokenFile, tls?: TlsServerOptions) {
    this.#token = token;
    this.#tls = tls;
  }

  /** The scheme of the API's URL. */
  get scheme(): 'http' | 'https' {
    return this.#tls === undefined ? 'http' : 'https';
  }

  /** Makes the server, not yet listening. */
  createServer(options: ServerOptions): Server {
    return this.#tls === undefined ? createServer(options) : createTlsServer({ ...options, ...this.#tls });
  }

  /**
   * Lets a request pass, or not.
   *
   * @param path of the request line, without the query
   * @throws HttpError 401 where a token is asked for and the request has another one, or none
   */
  async check(request: IncomingMessage, path: string): Promise<void> {
    if (this.#token === undefined || path === openPath || path.startsWith(agentPaths)) return;
    const [, given = ''] = /^Bearer +([^ ]+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const expected = await this.#token.read();
    if (isSameSecret(given, expected)) return;
    const challenge = given === '' ? 'Bearer' : 'Bearer error="invalid_token"';
    throw new HttpError(401, 'The request needs the bearer token of this Busdriver (--token-file)', {
      'www-authenticate': challenge,
    });
  }
}

/** Reads what the API asks of its callers. @throws AccessFileError naming the option, the file, and what is expected */
export async function loadFrontDoorAccess(files: FrontDoorFiles, log: Logger): Promise<FrontDoorAccess> {
  const token = files.tokenFile === undefined ? undefined : await TokenFile.open(files.tokenFile, log);
  return new FrontDoorAccess(token, await loadTls(files));
}

async function loadTls({
  tlsCert,
  tlsKey,
  tlsClientCa,
}: FrontDoorFiles): Promise<TlsServerOptions | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const cert = await readAccessFile('tls-cert', tlsCert, 0);
  const key = await readAccessFile('tls-key', tlsKey, 0o007);
  const options: TlsServerOptions = {
    ...{ cert, key, minVersion: 'TLSv1.2', handshakeTimeout: handshakeTimeoutMs },
    ...(tlsClientCa !== undefined && {
      ca: await readAccessFile('tls-client-ca', tlsClientCa, 0),
      requestCert: true,
      rejectUnauthorized: true,
    }),
  };
  try {
    createTlsServer(options).close();
  } catch (error) {
    const named = [tlsCert, tlsKey, tlsClientCa].filter((file) => file !== undefined).join(', ');
    throw new AccessFileError(
      `--tls-cert, --tls-key, --tls-client-ca must be PEM that belongs together (${named}): ${getErrorMessage(error)}`,
    );
  }
  return options;
}

/** A token in a file, which is read again when it changes. */
export class TokenFile {
  readonly #file: string;
  readonly #log: Logger;
  #token: string;
  /** By `performance.now()`. */
  #freshUntilMs = performance.now() + tokenFreshMs;
  #reading: Promise<void> | undefined;
  #complaint = '';

  private constructor(file: string, token: string, log: Logger) {
    this.#file = file;
    this.#token = token;
    this.#log = log;
  }

  /** @throws AccessFileError when there is no usable token in it */
  static async open(file: string, log: Logger): Promise<TokenFile> {
    return new TokenFile(file, await readToken(file), log);
  }

  /** The token in force. Where the file is wrong now it is the former one, and the log says so, once for each fault. */
  async read(): Promise<string> {
    if (performance.now() > this.#freshUntilMs) {
      this.#reading ??= this.#readAgain().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#token;
  }

  async #readAgain(): Promise<void> {
    try {
      this.#token = await readToken(this.#file);
      this.#complaint = '';
    } catch (error) {
      const complaint = getErrorMessage(error);
      if (complaint !== this.#complaint)
        this.#log.error('the token file cannot be used: the former token stays in force', {
          reason: complaint,
        });
      this.#complaint = complaint;
    }
    this.#freshUntilMs = performance.now() + tokenFreshMs;
  }
}

/** Compares in a time that reveals nothing of the expected one: texts of all lengths have digests of one. */
function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
}

async function readToken(file: string): Promise<string> {
  const token = (await readAccessFile('token-file', file, 0o077)).trim();
  // RFC 6750's alphabet: anything else cannot be sent.
  if (token.length >= tokenLengthMin && /^[\w.~+/=-]+$/.test(token)) return token;
  throw new AccessFileError(
    `--token-file: ${file} must hold one token of at least ${tokenLengthMin} letters, digits or -._~+/=, and nothing else`,
  );
}

/** Reads a file that decides who gets in. @param forbidden bits of its mode that must not be set */
async function readAccessFile(option: string, file: string, forbidden: number): Promise<string> {
  try {
    await using handle = await open(file, 'r');
    await checkFile(handle, { option, file, forbidden });
    return await handle.readFile('utf8');
  } catch (error) {
    if (error instanceof AccessFileError) throw error;
    throw new AccessFileError(`--${option}: ${file} cannot be read: ${getErrorMessage(error)}`);
  }
}

interface CheckedFile {
  readonly option: string;
  readonly file: string;
  readonly forbidden: number;
}

async function checkFile(handle: FileHandle, { option, file, forbidden }: CheckedFile): Promise<void> {
  const { mode, size } = await handle.stat();
  if (size > accessFileBytesMax) {
    throw new AccessFileError(
      `--${option}: ${file} has ${size} bytes: at most ${accessFileBytesMax} are read`,
    );
  }
  if ((mode & forbidden) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  const who = forbidden === 0o077 ? 'its owner' : 'its owner and group';
  throw new AccessFileError(
    `--${option}: ${file} (mode ${shown}) must be readable by ${who} alone: chmod ${forbidden === 0o077 ? '600' : '640'} it`,
  );
}

/** The certificate that a client showed, as API Gateway puts it into an event; null without one. */
export function findClientCertificate({ socket }: IncomingMessage): APIGatewayEventClientCertificate | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const certificate = socket.getPeerX509Certificate();
  return certificate === undefined ? null : toClientCertificate(certificate);
}

/**
 * A certificate that was verified, as API Gateway puts it into an event. Names are in RFC 4514's form, the most specific part first, as
 * in `CN=gate,O=Example`.
 */
export function toClientCertificate(certificate: X509Certificate): APIGatewayEventClientCertificate {
  return {
    clientCertPem: certificate.toString(),
    subjectDN: toDistinguishedName(certificate.subject),
    issuerDN: toDistinguishedName(certificate.issuer),
    serialNumber: toSerialNumber(certificate),
    validity: { notBefore: certificate.validFrom, notAfter: certificate.validTo },
  };
}

/** Bytes in hexadecimal with colons between, as in API Gateway. */
function toSerialNumber({ serialNumber }: X509Certificate): string {
  const digits = serialNumber.toLowerCase();
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return (even.match(/../g) ?? []).join(':');
}
