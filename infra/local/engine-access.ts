import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Logger } from '../../shared/core/logger.ts';
import type { EngineCredentials } from '../../shared/runtime/config.ts';
import { AwsError } from './aws-json-error.ts';
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
  readonly #signer: SignatureV4;
  readonly #log: Logger;
  /** By `performance.now()`. */
  #nextLogAtMs = 0;
  #unloggedRefusals = 0;

  constructor({ log, credentials = makeEngineCredentials(), region = localRegion }: EngineAccessOptions) {
    this.credentials = credentials;
    this.#region = region;
    this.#log = log;
    this.#signer = new SignatureV4({
      ...{ credentials, region, service: '', sha256: Sha256 },
      applyChecksum: false,
    });
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
    const foreign = findRefusal(request);
    if (foreign !== undefined) throw this.#refuse(service, 'AccessDeniedException', foreign);
    const claim = parseClaim(request.headers.authorization);
    if (claim === undefined || !isSameSecret(claim.accessKeyId, this.credentials.accessKeyId)) {
      throw this.#refuse(service, 'UnrecognizedClientException', 'The access key is none of this engine.');
    }
    const body = await readBody(request);
    const isSigned = await this.#isSigned({ request, service, claim, body });
    if (!isSigned) throw this.#refuse(service, 'InvalidSignatureException', 'The signature does not match.');
    return body;
  }

  async #isSigned({ request, service, claim, body }: Claimed): Promise<boolean> {
    const headers = takeSignedHeaders(request, claim.signedHeaders);
    const signingDate = parseDate(request.headers['x-amz-date']);
    if (headers === undefined || signingDate === undefined) return false;
    if (Math.abs(Date.now() - signingDate.getTime()) > signatureSkewMaxMs) return false;
    const statedHash = request.headers['x-amz-content-sha256'];
    // The signer takes this header for the hash of the body.
    if (statedHash !== undefined && !isSameSecret(String(statedHash), hashBody(body))) return false;
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const signed = await this.#signer.sign(
      {
        method: request.method ?? '',
        protocol: 'http:',
        hostname: 'localhost',
        path: pathname,
        query: Object.fromEntries(searchParams),
        headers,
        body,
      },
      { signingDate, signingService: service, signableHeaders: new Set(claim.signedHeaders) },
    );
    const expected = parseClaim(signed.headers['authorization']);
    return expected !== undefined && isSameSecret(claim.signature, expected.signature);
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

/** The headers that are signed; undefined when one of them is not there, or one that is needed is not signed. */
function takeSignedHeaders(
  { headers, method }: IncomingMessage,
  signed: readonly string[],
): { [name: string]: string } | undefined {
  const needed = method === 'GET' ? neededHeaders : [...neededHeaders, 'x-amz-target'];
  if (!needed.every((name) => signed.includes(name))) return undefined;
  if (!signed.every((name) => Object.hasOwn(headers, name))) return undefined;
  return Object.fromEntries(signed.map((name) => [name, String(headers[name])]));
}

/** ISO 8601's basic format, the only one of Signature Version 4. */
function parseDate(header: string | readonly string[] | undefined): Date | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(header));
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function hashBody(body: Buffer): string {
  return createHash('sha256').update(body).digest('hex');
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > engineRequestBytesMax) {
      throw new AwsError(
        'RequestEntityTooLarge',
        `The request is larger than ${engineRequestBytesMax} bytes.`,
        413,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
