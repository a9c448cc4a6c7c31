import { chmod, rm, writeFile } from 'node:fs/promises';
import { request as sendPlain } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LogFields } from '#core/logger.ts';
import type { Route } from '#functions/routes.ts';
import type { FrontDoorFiles } from '#infra/server/front-door/front-door-access.ts';
import { loadFrontDoorAccess, tokenFreshMs } from '#infra/server/front-door/front-door-access.ts';
import { type HttpServer, startHttp } from '#infra/server/front-door/http.ts';
import { Invoker } from '#infra/server/functions/invoker.ts';
import type { Identity } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const token = 'correct-horse-battery';

let temp: TempDir;
let started: AsyncDisposableStack;
let invocations: APIGatewayProxyEvent[];
let errors: { readonly message: string; readonly fields: LogFields | undefined }[];

beforeEach(async () => {
  invocations = [];
  errors = [];
  started = new AsyncDisposableStack();
  temp = started.use(await makeTempDir());
});

afterEach(() => started.disposeAsync());

describe('a token', () => {
  test.each<[string, string, { readonly [name: string]: string }]>([
    ['no token', '/credentials', {}],
    ['another token', '/credentials', { authorization: `Bearer ${token}x` }],
    ['the beginning of it', '/credentials', { authorization: 'Bearer correct-horse' }],
    ['another scheme', '/credentials', { authorization: `Basic ${token}` }],
    ['no token for a path that is not there', '/nowhere', {}],
    ['no token for what looks like the open path', '/health/', {}],
    ['no token for what looks like the open path', '/%68ealth', {}],
    ['no token for what looks like the open path', '/credentials?/health', {}],
  ])('is asked for: %s (%s)', async (_, target, headers) => {
    const isWrong = headers['authorization']?.startsWith('Bearer ') === true;
    const challenge = isWrong ? 'Bearer error="invalid_token"' : 'Bearer';
    const server = await start({ tokenFile: await writeToken(token) });
    const answer = await get(server, target, headers);
    expect({ status: answer.status, challenge: answer.headers['www-authenticate'] }).toEqual({
      status: 401,
      challenge,
    });
    expect(JSON.parse(answer.body)).toEqual({
      error: 'Unauthorized',
      message: 'The request needs the bearer token of this Busdriver (--token-file)',
      status: 401,
      timestamp: expect.anything(),
    });
    expect(invocations).toEqual([]);
  });

  test.each(['Bearer', 'bearer'])('lets its owner in as %s', async (scheme) => {
    const server = await start({ tokenFile: await writeToken(`${token}\n`) });
    expect(await get(server, '/credentials', { authorization: `${scheme} ${token}` })).toMatchObject({
      status: 200,
    });
  });

  test('is not asked of those who ask for health', async () => {
    const server = await start({ tokenFile: await writeToken(token) });
    expect((await get(server, '/health')).status).toBe(200);
    expect((await get(server, '/health?x=1')).status).toBe(200);
  });

  test('is another one once its file has another one', async () => {
    const tokenFile = await writeToken(token);
    const server = await start({ tokenFile });
    await writeFile(tokenFile, 'another-long-token');
    await expect.poll(() => getStatus(server, 'another-long-token')).toBe(200);
    expect(await getStatus(server, token)).toBe(401);
  });

  test('stays in force while its file is wrong, and the log says once what is wrong', async () => {
    const tokenFile = await writeToken(token);
    const server = await start({ tokenFile });
    await chmod(tokenFile, 0o644);
    await expect
      .poll(() => getStatus(server, token).then(() => errors))
      .toEqual([
        {
          message: 'the token file cannot be used: the former token stays in force',
          fields: {
            reason: `--token-file: ${tokenFile} (mode 0644) must be readable by its owner alone: chmod 600 it`,
          },
        },
      ]);
    await new Promise((resolve) => setTimeout(resolve, tokenFreshMs + 100));
    expect(await getStatus(server, token)).toBe(200);
    expect(errors).toHaveLength(1);
    await rm(tokenFile);
    await expect.poll(() => getStatus(server, token).then(() => errors.length)).toBe(2);
    expect(await getStatus(server, token)).toBe(200);
    expect(JSON.stringify(errors)).not.toContain(token);
  });

  test.each([
    ['short-of-16-chrs', 0o600, undefined],
    ['short', 0o600, 'must hold one token of at least 16 letters, digits or -._~+/=, and nothing else'],
    ['', 0o600, 'must hold one token'],
    ['two tokens in one file', 0o600, 'must hold one token'],
    [token, 0o640, '(mode 0640) must be readable by its owner alone: chmod 600 it'],
    [token, 0o604, '(mode 0604) must be readable by its owner alone: chmod 600 it'],
  ])('%j in a file of mode %o: %s', async (content, mode, refusal) => {
    const tokenFile = await writeToken(content, mode);
    const loading = loadFrontDoorAccess({ tokenFile }, makeLog());
    if (refusal === undefined) await expect(loading).resolves.toBeDefined();
    else await expect(loading).rejects.toThrow(`--token-file: ${tokenFile} ${refusal}`);
  });
});

describe('mutual TLS', () => {
  const authority = new CertificateAuthority();
  const gate = authority.issue({ commonName: 'gate, of "us"' });

  test('tells functions who calls, as API Gateway does', async () => {
    const server = await start(await writeTls(authority));
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await getSecurely(server, { authority, identity: gate })).toMatchObject({ status: 200 });
    const [event] = invocations;
    expect(event?.requestContext.identity.clientCert).toEqual({
      clientCertPem: gate.certificate,
      subjectDN: String.raw`CN=gate\, of \"us\"`,
      issuerDN: 'CN=test authority',
      serialNumber: expect.stringMatching(/^01(:[0-9a-f]{2}){8}$/),
      validity: {
        notBefore: expect.stringMatching(/^\w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT$/),
        notAfter: expect.stringMatching(/^\w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT$/),
      },
    });
  });

  test.each<[string, Identity | undefined]>([
    ['no certificate', undefined],
    ['a certificate of somebody else', new CertificateAuthority().issue({ commonName: 'gate' })],
    [
      'a certificate of somebody else with the same name',
      new CertificateAuthority('test authority').issue({ commonName: 'gate' }),
    ],
    ['an expired one', authority.issue({ commonName: 'gate', expired: true })],
  ])('refuses %s, health included, and goes on', async (_, identity) => {
    const server = await start(await writeTls(authority));
    await expect(getSecurely(server, { authority, identity })).rejects.toThrow();
    await expect(getSecurely(server, { authority, identity, target: '/health' })).rejects.toThrow();
    expect(invocations).toEqual([]);
    expect(await getSecurely(server, { authority, identity: gate })).toMatchObject({ status: 200 });
  });

  test('answers nothing to what is no TLS', async () => {
    const server = await start(await writeTls(authority));
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write('GET /credentials HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await text(socket).catch(() => '')).toBe('');
    expect(invocations).toEqual([]);
  });

  test('and a token go together', async () => {
    const files = await writeTls(authority);
    const server = await start({ ...files, tokenFile: await writeToken(token) });
    const caller = { authority, identity: gate };
    expect(await getSecurely(server, caller)).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${token}` };
    expect(await getSecurely(server, { ...caller, headers })).toMatchObject({ status: 200 });
  });

  test('refuses pages of other origins, and no others', async () => {
    const server = await start(await writeTls(authority));
    const origin = server.url;
    const caller = { authority, identity: gate };
    expect(await getSecurely(server, { ...caller, headers: { origin } })).toMatchObject({ status: 200 });
    const plain = { origin: origin.replace('https:', 'http:') };
    expect(await getSecurely(server, { ...caller, headers: plain })).toMatchObject({ status: 403 });
  });

  test('needs files that belong together', async () => {
    const files = await writeTls(authority);
    const other = await writeFiles({ 'other.key': gate.key });
    const wrong = { ...files, tlsKey: other['other.key'] };
    await expect(loadFrontDoorAccess(wrong, makeLog())).rejects.toThrow(
      /^--tls-cert, --tls-key, --tls-client-ca must be PEM that belongs together \(.*other\.key.*\): /,
    );
    await chmod(files.tlsKey, 0o604);
    await expect(loadFrontDoorAccess(files, makeLog())).rejects.toThrow(
      `--tls-key: ${files.tlsKey} (mode 0604) must be readable by its owner and group alone: chmod 640 it`,
    );
    await rm(files.tlsKey);
    await expect(loadFrontDoorAccess(files, makeLog())).rejects.toThrow(
      /^--tls-key: .* cannot be read: ENOENT/,
    );
  });
});

test('TLS without an authority of clients asks for no certificate', async () => {
  const authority = new CertificateAuthority();
  const { tlsClientCa: _, ...files } = await writeTls(authority);
  const server = await start(files);
  const identity = new CertificateAuthority().issue({ commonName: 'gate' });
  expect(await getSecurely(server, { authority, identity })).toMatchObject({ status: 200 });
  expect(invocations[0]?.requestContext.identity.clientCert).toBeNull();
});

async function start(files: FrontDoorFiles): Promise<HttpServer> {
  const log = makeLog();
  const load = async () => async (event: unknown) => {
    invocations.push(event as APIGatewayProxyEvent);
    return { statusCode: 200, body: '{}' };
  };
  const access = await loadFrontDoorAccess(files, log);
  const options = { routes, log, access, host: '127.0.0.1', port: 0, allowedHosts: [] };
  const invoker = new Invoker(load, log);
  return started.use(await startHttp({ ...options, invoker, readLoopDelayMs: () => 0 }));
}

const routes: readonly Route[] = ['/health', '/credentials'].map((target) => ({
  ...{ method: 'GET', path: target, module: 'api/test', reaches: 'store' as const, timeoutSeconds: 20 },
  method: 'GET' as const,
  access: 'anonymous' as const,
}));

function makeLog() {
  const error = (message: string, fields?: LogFields) => void errors.push({ message, fields });
  return { debug() {}, info() {}, warn() {}, error };
}

async function writeToken(content: string, mode = 0o600): Promise<string> {
  const file = path.join(temp.path, 'token');
  await writeFile(file, content);
  await chmod(file, mode);
  return file;
}

async function writeTls(authority: CertificateAuthority) {
  const { certificate, key } = authority.issue({ commonName: 'busdriver', hosts: ['127.0.0.1'] });
  const files = await writeFiles({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate });
  return { tlsCert: files['tls.crt'], tlsKey: files['tls.key'], tlsClientCa: files['ca.crt'] };
}

async function writeFiles<T extends string>(contents: Record<T, string>): Promise<Record<T, string>> {
  const entries = Object.entries<string>(contents).map(async ([name, content]) => {
    const file = path.join(temp.path, name);
    await writeFile(file, content, { mode: 0o600 });
    return [name, file];
  });
  return Object.fromEntries(await Promise.all(entries));
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: { readonly [name: string]: unknown };
  readonly body: string;
}

/** By the target as it is: `fetch` would tidy it up. */
async function get(
  server: HttpServer,
  target: string,
  headers: { readonly [name: string]: string } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(server.url);
  return send(sendPlain({ host: hostname, port, path: target, headers, agent: false }));
}

async function getStatus(server: HttpServer, given: string): Promise<number | undefined> {
  return (await get(server, '/credentials', { authorization: `Bearer ${given}` })).status;
}

interface Caller extends Pick<RequestOptions, 'headers'> {
  readonly authority: CertificateAuthority;
  readonly identity: Identity | undefined;
  readonly target?: string;
}

async function getSecurely(
  server: HttpServer,
  { authority, identity, target, headers }: Caller,
): Promise<Answer> {
  const { hostname, port } = new URL(server.url);
  const options = {
    host: hostname,
    port,
    path: target ?? '/credentials',
    agent: false,
    ca: authority.certificate,
  };
  const own = identity === undefined ? {} : { cert: identity.certificate, key: identity.key };
  return send(request({ ...options, ...own, ...(headers && { headers }) }));
}

async function send(sent: ReturnType<typeof request>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      const { statusCode: status, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
    sent.end();
  });
}
