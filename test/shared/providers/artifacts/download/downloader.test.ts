import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AccessDeniedError, FailedOperationError, NotFoundError } from '#core/errors.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { CertificateAuthority } from '../../kubernetes/credentials/certificates.ts';
import { createTestClock, readText } from '../options.ts';
import { startOrigin } from '../origin.ts';
import { startTestDownloader } from './test-downloader.ts';

/** Answers request after request by the next listener, in the end by the last one. */
function inTurn(...listeners: readonly RequestListener[]): RequestListener {
  let count = 0;
  return (request, response) => {
    const listener = listeners[Math.min(count, listeners.length - 1)];
    count += 1;
    listener?.(request, response);
  };
}

function status(code: number, headers: { readonly [name: string]: string } = {}): RequestListener {
  return (_, response) => response.writeHead(code, headers).end(`status ${code}`);
}

const hello: RequestListener = (_, response) => response.end('hello');

function authorizations(requests: readonly IncomingMessage[]): (string | undefined)[] {
  return requests.map(({ headers }) => headers.authorization);
}

describe('download', () => {
  test('answers what the server answers, asked for with path and query', async () => {
    await using origin = await startOrigin(hello);
    await using downloader = startTestDownloader();
    const url = `${origin.url}/a%20b/c?d=e%2Ff#fragment`;
    expect(await downloader.read(url, { accept: 'text/x', credentials: { authorization: 'token t' } })).toBe(
      'hello',
    );
    expect(origin.requests[0]).toMatchObject({
      method: 'GET',
      url: '/a%20b/c?d=e%2Ff',
      headers: { accept: 'text/x', authorization: 'token t', 'user-agent': 'busdriver' },
    });
  });

  test.each([
    [404, NotFoundError],
    [400, FailedOperationError],
    [401, FailedOperationError],
    [403, FailedOperationError],
    [429, FailedOperationError],
    [304, FailedOperationError],
  ])('reports status %d with host and account, at once', async (code, kind) => {
    await using origin = await startOrigin(status(code));
    await using downloader = startTestDownloader();
    const url = `http://files.example.com:${origin.port}/planted?token=planted`;
    const failure = await downloader.get(url, { credentials: { authorization: 'planted' } }).catch(String);
    expect(failure).toBe(
      `${kind.name}: Received ${code} status code from files.example.com:${origin.port} (artifact account 'files')`,
    );
    expect(origin.requests).toHaveLength(1);
  });
});

const post = { method: 'POST' } as const;
const noTarget = 'Received a redirect (302) without a target';

test.each([
  { what: 'fails three times', answer: status(502), says: 'Received 502 status code', asked: 3 },
  { what: 'fails a POST', answer: status(503), request: post, says: '503' },
  { what: 'redirects a POST', answer: status(307, { location: '/x' }), request: post, says: 'Received 307' },
  { what: 'redirects to nothing', answer: status(302), says: noTarget },
  { what: 'redirects to an empty text', answer: status(302, { location: '' }), says: noTarget },
  { what: 'redirects to no URL', answer: status(302, { location: 'http://' }), says: noTarget },
  { what: 'does not answer', answer: () => {}, limits: { headersTimeoutMs: 50 }, says: 'no answer in time' },
])('a server that $what is given up', async ({ answer, request, limits, says, asked = 1 }) => {
  await using origin = await startOrigin(answer);
  await using downloader = startTestDownloader(limits && { limits });
  await expect(downloader.get(origin.url, request)).rejects.toThrow(says);
  expect(origin.requests.map(({ method }) => method)).toEqual(Array(asked).fill(request?.method ?? 'GET'));
});

describe('retries', () => {
  test('repeats what the server failed to answer, twice, a little later each time', async () => {
    await using origin = await startOrigin(inTurn(status(503), status(500), hello));
    await using downloader = startTestDownloader();
    expect(await downloader.read(origin.url)).toBe('hello');
    expect(downloader.clock.sleeps).toEqual([300, 600]);
    expect(downloader.log.lines).toHaveLength(2);
  });

  test('gives up when time is over', async () => {
    const clock = createTestClock();
    await using origin = await startOrigin((_, response) => {
      clock.advance(10_000);
      response.writeHead(502).end();
    });
    await using downloader = startTestDownloader({ clock });
    await expect(downloader.get(origin.url)).rejects.toThrow('502');
    expect(origin.requests).toHaveLength(1);
  });

  test('repeats a lost connection', async () => {
    await using origin = await startOrigin(inTurn((request) => request.socket.destroy(), hello));
    await using downloader = startTestDownloader();
    expect(await downloader.read(origin.url)).toBe('hello');
  });

  test('reports an unreachable server without its address', async () => {
    const origin = await startOrigin(hello);
    await origin[Symbol.asyncDispose]();
    await using downloader = startTestDownloader();
    const url = `http://files.example.com:${origin.port}/planted`;
    const failure = await getFailure(downloader.get(url));
    expect(failure).toBeInstanceOf(FailedOperationError);
    expect(String(failure)).toBe(
      `FailedOperationError: Unable to read from files.example.com:${origin.port}: the connection was refused`,
    );
    expect(downloader.clock.sleeps).toHaveLength(2);
  });

  test('reports a name that does not exist, at once', async () => {
    await using downloader = startTestDownloader({
      resolve: async () => {
        throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
      },
    });
    await expect(downloader.get('http://no.example.com/')).rejects.toThrow(
      'Unable to read from no.example.com: its name could not be resolved',
    );
    expect(downloader.clock.sleeps).toEqual([]);
  });
});

describe('redirects', () => {
  test.each([300, 301, 302, 303, 307, 308])('follows %d, relative ones too', async (code) => {
    await using origin = await startOrigin(inTurn(status(code, { location: '../other?x=y' }), hello));
    await using downloader = startTestDownloader();
    expect(await downloader.read(`${origin.url}/a/b/c`)).toBe('hello');
    expect(origin.requests.map(({ url }) => url)).toEqual(['/a/b/c', '/a/other?x=y']);
  });

  test('lets credentials take the place of no header of its own', async () => {
    await using origin = await startOrigin(hello);
    await using downloader = startTestDownloader();
    const credentials = { 'private-token': 't', accept: 'text/x', 'accept-encoding': 'br' };
    await downloader.read(origin.url, { credentials });
    expect(origin.requests[0]?.headers).toMatchObject({
      'private-token': 't',
      accept: '*/*',
      'accept-encoding': 'gzip',
    });
  });

  test('keeps the authorization on the same scheme, host and port only', async () => {
    await using other = await startOrigin((_, response) => {
      response.writeHead(302, { location: `http://files.example.com:${origin.port}/back` }).end();
    });
    await using origin = await startOrigin(
      inTurn(
        status(302, { location: '/same' }),
        (_, response) =>
          response.writeHead(302, { location: `http://other.example.com:${other.port}/` }).end(),
        hello,
      ),
    );
    await using downloader = startTestDownloader();
    const url = `http://files.example.com:${origin.port}/`;

    await downloader.read(url, { credentials: { authorization: 'Basic planted' } });

    expect(authorizations(origin.requests)).toEqual(['Basic planted', 'Basic planted', 'Basic planted']);
    expect(authorizations(other.requests)).toEqual([undefined]);
  });

  test.each([
    ['host', 'http://evil.example.com:PORT/'],
    ['subdomain', 'http://a.files.example.com:PORT/'],
    ['port', 'http://files.example.com:OTHER/'],
  ])('drops the authorization on another %s', async (_, location) => {
    await using other = await startOrigin(hello);
    await using origin = await startOrigin((request, response) => {
      const target = location.replace('PORT', String(origin.port)).replace('OTHER', String(other.port));
      if (request.url === '/start') response.writeHead(302, { location: target }).end();
      else response.end('hello');
    });
    await using downloader = startTestDownloader();
    const url = `http://files.example.com:${origin.port}/start`;

    await downloader.read(url, {
      credentials: { authorization: 'token planted', 'private-token': 'planted' },
    });

    const all = [...origin.requests, ...other.requests];
    const [first, ...later] = authorizations(all);
    expect(first).toBe('token planted');
    expect(later).toEqual([undefined]);
    expect(all.map(({ headers }) => headers['private-token'])).toEqual(['planted', undefined]);
  });

  test('drops the authorization on the way from https to http, on the same host', async () => {
    await using origin = await startOrigin(hello);
    const authority = new CertificateAuthority();
    const { certificate: cert, key } = authority.issue({ commonName: 'files', hosts: ['files.example.com'] });
    const secured: IncomingMessage[] = [];
    const secure = createSecureServer({ cert, key }, (request, response) => {
      secured.push(request);
      response.writeHead(302, { location: `http://files.example.com:${origin.port}/` }).end();
    }).listen(0, '127.0.0.1');
    await once(secure, 'listening');
    onTestFinished(() => {
      secure.closeAllConnections();
      secure.close();
    });
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, authority.certificate]);
    onTestFinished(() => setDefaultCACertificates(trusted));
    await using downloader = startTestDownloader();
    const url = `https://files.example.com:${(secure.address() as AddressInfo).port}/`;

    await downloader.read(url, { credentials: { authorization: 'token planted' } });

    expect(authorizations(secured)).toEqual(['token planted']);
    expect(authorizations(origin.requests)).toEqual([undefined]);
  });

  test.each(['http://user:planted@files.example.com:PORT/', 'http://api.github.com@files.example.com:PORT/'])(
    'does not follow to a URL with a user name: %s',
    async (location) => {
      await using origin = await startOrigin((_, response) =>
        response.writeHead(302, { location: location.replace('PORT', String(origin.port)) }).end(),
      );
      await using downloader = startTestDownloader();
      await expect(downloader.get(origin.url)).rejects.toThrow(
        new AccessDeniedError(
          "A URL of host 'files.example.com' is not allowed: it holds a user name or password",
        ),
      );
      expect(origin.requests).toHaveLength(1);
    },
  );

  test.each([
    'http://169.254.169.254/latest/meta-data/iam/security-credentials/',
    ...['http://[fd00:ec2::254]/latest/meta-data/', 'http://[::ffff:169.254.169.254]/'],
    ...['http://metadata.google.internal/computeMetadata/v1/', 'http://2852039166/latest/', 'http://0/'],
    ...['//10.0.0.1/', '\\\\10.0.0.1\\', 'file:///etc/passwd', 'data:text/plain,hello'],
    'gopher://127.0.0.1:6379/_FLUSHALL',
  ])('does not follow to %s', async (location) => {
    await using origin = await startOrigin(status(302, { location }));
    await using downloader = startTestDownloader();
    const failure = await getFailure(downloader.get(origin.url));
    expect(failure).toBeInstanceOf(AccessDeniedError);
    expect(origin.requests).toHaveLength(1);
  });

  test('does not follow to a name that leads to a private address', async () => {
    await using origin = await startOrigin((_, response) =>
      response.writeHead(302, { location: `http://rebound.example.com:${origin.port}/` }).end(),
    );
    await using downloader = startTestDownloader({
      resolve: async (hostname) => [
        { address: hostname === 'files.example.com' ? '127.0.0.1' : '10.0.0.1', family: 4 },
      ],
    });
    const url = `http://files.example.com:${origin.port}/`;
    await expect(downloader.get(url)).rejects.toThrow(
      "Host 'rebound.example.com' is not allowed: its address is private",
    );
  });

  test('follows ten and no more', async () => {
    const countdown: RequestListener = ({ url = '' }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end('hello');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    await using origin = await startOrigin(countdown);
    await using downloader = startTestDownloader();
    const ten = await downloader.get(`${origin.url}/10`);
    expect(await readText(ten)).toBe('hello');
    const eleven = downloader.get(`${origin.url}/11`);
    await expect(eleven).rejects.toThrow('Too many redirects (more than 10)');
  });
});

describe('time-outs', () => {
  test('gives up on a server that does not greet', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await using downloader = startTestDownloader({ limits: { connectTimeoutMs: 50 } });
    await expect(downloader.get(`https://127.0.0.1:${port}/`)).rejects.toThrow('no connection in time');
  });
});

test('gives up its connections when it is disposed of', async () => {
  await using origin = await startOrigin((_, response) => response.write('part'));
  const downloader = startTestDownloader();
  const body = await downloader.get(origin.url);
  await downloader[Symbol.asyncDispose]();
  await expect(readText(body)).rejects.toThrow('Unable to read from');
});
