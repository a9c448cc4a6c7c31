import { createHmac, hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../../shared/core/logger.ts';
import type { EngineCredentials } from '../../shared/runtime/config.ts';
import { AwsError } from './engines/engine.ts';
import { isSameSecret } from './constant-time.ts';
import { localRegion } from './local-aws.ts';
import { findRefusal } from './loopback-guard.ts';

/** Milliseconds between the time of a signature and ours, either way: AWS' own bound. */
export const signatureSkewMaxMs = 5 * 60_000;

/** Milliseconds between two lines of the log about callers that were refused. */
export const refusalLogIntervalMs = 60_000;

/** Bytes of a request's body: more than any request that the emulated services accept. */
export const engineRequestBytesMax = 16 << 20;

/** Random bytes of each half of the credentials. */
const secretBytes = 32;

/** Options of an AWS client that talks to an engine. */
export interface EngineClientOptions {
  /** URL of the engine. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: EngineCredentials;
}

/** Name of a service in the scope of signatures. */
export type SigningName = 'dynamodb' | 'sqs' | 'events';

/** How to guard the engines. */
export interface EngineAccessOptions {
  readonly log: Logger;
  /** Default random ones. */
  readonly credentials?: EngineCredentials;
  /** In the scope of signatures. Default: the local region. */
  readonly region?: string;
}

/** Makes credentials that nobody can guess: 256 random bits in each half, for both are secret here. */
export function makeEngineCredentials(): EngineCredentials {
  const [accessKeyId = '', secretAccessKey = ''] = [0, 1].map(() => randomBytes(secretBytes).toString('hex'));
  return { accessKeyId, secretAccessKey };
}

/**
 * Lets only those call the local engines who know their credentials. Every user of the machine reaches a port of 127.0.0.1, so
 * the engines check what AWS checks: Signature Version 4 over the method, the path, the signed headers and the body.
 *
 * Nothing is read from strangers: whoever does not name the access key, which is as secret as the other half, is refused by the
 * headers alone.
 */
export class EngineAccess {
  readonly credentials: EngineCredentials;
  readonly #region: string;
  /**
   * Connections over which a signed request came. Nobody else can write into them, so what comes later need only name the access key:
   * looking at each signature costs a call a noticeable part of its time.
   */
  readonly #proven = new WeakSet<Socket>();
  /** The key that signatures of a day and a service are made with, by their scope: it costs four hashes to make. */
  readonly #keys = new Map<string, Buffer>();
  readonly #log: Logger;
  /** By `performance.now()`. */
  #nextLogAtMs = 0;
  #unloggedRefusals = 0;

  constructor({ log, credentials = makeEngineCredentials(), region = localRegion }: EngineAccessOptions) {
    this.credentials = credentials;
    this.#region = region;
    this.#log = log;
  }

  /** What a client of the engine at a URL is made with. */
  toClientOptions(endpoint: string): EngineClientOptions {
    return { endpoint, region: this.#region, credentials: this.credentials };
  }

  /**
   * Checks who sent a request, and reads its body.
   *
   * @returns the body, which may be empty
   * @throws AwsError 403 for whoever does not know the credentials; 413 over `engineRequestBytesMax`; Error when the client breaks off
   */
  async admit(request: IncomingMessage, service: SigningName): Promise<Buffer> {
    if (this.#proven.has(request.socket) && this.#namesKey(request)) return readBody(request);
    const foreign = findRefusal(request);
    if (foreign !== undefined) throw this.#refuse(service, 'AccessDeniedException', foreign.reason);
    const claim = parseClaim(request.headers.authorization);
    if (claim === undefined || !isSameSecret(claim.accessKeyId, this.credentials.accessKeyId)) {
      throw this.#refuse(service, 'UnrecognizedClientException', 'The access key is none of this engine.');
    }
    const body = await readBody(request);
    if (!this.#isSigned({ request, service, claim, body })) {
      throw this.#refuse(service, 'InvalidSignatureException', 'The signature does not match.');
    }
    this.#proven.add(request.socket);
    return body;
  }

  #namesKey({ headers: { authorization = '' } }: IncomingMessage): boolean {
    const { accessKeyId } = this.credentials;
    const named = authorization.slice(credentialStart.length, credentialStart.length + accessKeyId.length);
    return authorization.startsWith(credentialStart) && isSameSecret(named, accessKeyId);
  }

  /**
   * Whether a request is signed as AWS' clients sign, by Signature Version 4. Made anew here, not by the SDK's signer, which takes longer
   * for it than the engine for its answer.
   */
  #isSigned({ request, service, claim, body }: Claimed): boolean {
    const headers = takeSignedHeaders(request, claim.signedHeaders);
    const time = String(request.headers['x-amz-date']);
    const signingDate = parseDate(time);
    const [path = '', query = ''] = (request.url ?? '/').split('?', 2);
    // Whatever would have to be written otherwise to be signed comes from no client of ours.
    if (headers === undefined || signingDate === undefined || !plainTarget.test(path + query)) return false;
    if (Math.abs(Date.now() - signingDate.getTime()) > signatureSkewMaxMs) return false;
    const bodyHash = hash('sha256', body, 'hex');
    // A signer that sends this header takes it for the hash of the body.
    const statedHash = request.headers['x-amz-content-sha256'];
    if (statedHash !== undefined && !isSameSecret(String(statedHash), bodyHash)) return false;
    const canonical = [request.method, path, query, ...headers, '', claim.signedHeaders.join(';'), bodyHash];
    const scope = `${time.slice(0, 8)}/${this.#region}/${service}/aws4_request`;
    const text = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', canonical.join('\n'), 'hex')].join('\n');
    const expected = createHmac('sha256', this.#getKey(scope)).update(text).digest('hex');
    return isSameSecret(claim.signature, expected);
  }

  #getKey(scope: string): Buffer {
    const known = this.#keys.get(scope);
    if (known !== undefined) return known;
    const parts = scope.split('/');
    const start = Buffer.from(`AWS4${this.credentials.secretAccessKey}`);
    const key = parts.reduce((from, part) => createHmac('sha256', from).update(part).digest(), start);
    // Of yesterday's nobody has need.
    if (this.#keys.size >= signingKeysMax) this.#keys.clear();
    this.#keys.set(scope, key);
    return key;
  }

  /** Logs once a minute at most, whoever knocks how often: what a stranger sends is not told. */
  #refuse(service: SigningName, code: string, message: string): AwsError {
    this.#unloggedRefusals += 1;
    const nowMs = performance.now();
    if (nowMs >= this.#nextLogAtMs) {
      const fields = { engine: service, reason: code, refusals: this.#unloggedRefusals };
      this.#log.warn('a local engine refused a caller that does not know its credentials', fields);
      this.#nextLogAtMs = nowMs + refusalLogIntervalMs;
      this.#unloggedRefusals = 0;
    }
    return new AwsError(code, `${message} Only the Busdriver that runs this engine may call it.`, 403);
  }
}

interface Claimed {
  readonly request: IncomingMessage;
  readonly service: SigningName;
  readonly claim: Claim;
  readonly body: Buffer;
}

/** What an `Authorization` header says. */
interface Claim {
  readonly accessKeyId: string;
  /** In lower case. */
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

/** Paths and queries that are signed as they are written. */
const plainTarget = /^[\w/.=&-]*$/;

/** Start of an `Authorization` header; the access key follows. */
const credentialStart = 'AWS4-HMAC-SHA256 Credential=';

/** Keys that are kept: of two days and all services. */
const signingKeysMax = 16;

/** Headers without which a signature says nothing about the request. */
const neededHeaders = ['host', 'x-amz-date'];

function parseClaim(header: string | undefined): Claim | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/[^,\s]+, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      header ?? '',
    );
  if (match === null) return undefined;
  const [, accessKeyId = '', names = '', signature = ''] = match;
  return { accessKeyId, signedHeaders: names.split(';'), signature };
}

/** Lines of the headers that are signed; undefined when one of them is not there, or one that is needed is not signed. */
function takeSignedHeaders(
  { headers, method }: IncomingMessage,
  signed: readonly string[],
): readonly string[] | undefined {
  const needed = method === 'GET' ? neededHeaders : [...neededHeaders, 'x-amz-target'];
  if (!needed.every((name) => signed.includes(name))) return undefined;
  if (!signed.every((name) => Object.hasOwn(headers, name))) return undefined;
  return signed.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/\s+/g, ' ')}`);
}

/** ISO 8601's basic format, the only one of Signature Version 4. */
function parseDate(header: string | readonly string[] | undefined): Date | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(header));
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= engineRequestBytesMax) chunks.push(chunk);
    else {
      chunks.length = 0;
      request.destroy();
      reject(tooLarge());
    }
  });
  request.on('end', () =>
    resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)),
  );
  request.on('error', reject);
  request.on('close', () => reject(new Error('the client broke off')));
  return promise;
}

function tooLarge(): AwsError {
  const message = `The request is larger than ${engineRequestBytesMax} bytes.`;
  return new AwsError('RequestEntityTooLarge', message, 413);
}
