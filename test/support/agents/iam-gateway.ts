import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { handler as openIamSession } from '#functions/agents/open-iam-session.ts';
import type { Services } from '#platform/services/services.ts';
import { closeServer, listenLocally } from '../network/local-server.ts';

/** Who may sign, and as whom API Gateway knows him. */
export interface IamCaller {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly userArn: string;
}

/** What API Gateway does with `POST /agent/v1/iam-sessions`. Disposing stops it. */
export interface IamGateway extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a server that looks at signatures for `execute-api` as AWS documents it ("Create a signed AWS API request"), and hands what is signed
 * by the caller to the function, in an event of an HTTP API. Whatever else comes is answered with 403.
 */
export async function startIamGateway(
  caller: IamCaller,
  { services, region }: { readonly services: Services; readonly region: string },
): Promise<IamGateway> {
  const run = openIamSession.withServices(services) as (...args: object[]) => Promise<unknown>;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    if (!isSigned(request, { body, caller, region })) {
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}');
      return;
    }
    const answer = await run(toEvent(request, body, caller), { functionName: 'open', awsRequestId: 'id' });
    const { statusCode, body: text } = answer as { statusCode: number; body: string };
    response.writeHead(statusCode, { 'content-type': 'application/json' }).end(text);
  });
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

function toEvent({ url = '', headers }: IncomingMessage, body: string, { userArn }: IamCaller) {
  return {
    ...{ version: '2.0', routeKey: `POST ${url}`, rawPath: url, rawQueryString: '', headers, body },
    isBase64Encoded: false,
    requestContext: {
      ...{ requestId: 'id', stage: '$default' },
      http: { method: 'POST', path: url, sourceIp: '192.0.2.1', userAgent: 'agent' },
      authorizer: { iam: { userArn, accountId: '111122223333' } },
    },
  };
}

interface Expected {
  readonly body: string;
  readonly caller: IamCaller;
  readonly region: string;
}

function isSigned(request: IncomingMessage, { body, caller, region }: Expected): boolean {
  const { method, url, headers } = request;
  const match = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(
    headers.authorization ?? '',
  );
  const [, accessKeyId, scope = '', names = '', signature] = match ?? [];
  const time = String(headers['x-amz-date']);
  const day = time.slice(0, 8);
  const isCurrent =
    Math.abs(Date.now() - Date.parse(time.replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))) < 300_000;
  if (accessKeyId !== caller.accessKeyId || scope !== `${day}/${region}/execute-api/aws4_request`)
    return false;
  if (!isCurrent || !names.split(';').includes('host')) return false;
  if (headers['x-amz-security-token'] !== caller.sessionToken) return false;
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`);
  const canonical = [method, url, '', ...lines, '', names, sha256(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${caller.secretAccessKey}`);
  return hmac(key, toSign).toString('hex') === signature;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
