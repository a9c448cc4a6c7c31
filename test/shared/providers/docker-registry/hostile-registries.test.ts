import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#platform/services/system.ts';
import type { RegistryClient } from '#providers/docker-registry/registry-client.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { startOrigin } from '../artifacts/origin.ts';
import { openClient } from './test-account.ts';

const { signal } = new AbortController();
const credentials = { username: 'robot', password: 'planted-s3cr3t' };
const digest = `sha256:${'0'.repeat(64)}`;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Hostility {
  readonly answer: Answer;
  readonly says: RegExp;
  readonly ask?: (client: RegistryClient) => Promise<unknown>;
  /** Requests that it gets at most. */
  readonly requestsMax: number;
}

/** This machine, metadata services, and what is not the public internet. */
const forbiddenHosts = [
  ...['localhost', '127.0.0.2', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '169.254.169.254', '168.63.129.16'],
  ...['[fd00:ec2::254]', '[64:ff9b::168.63.129.16]', '[4000::1]'],
];

const listTags = (client: RegistryClient) => client.listTags('shop/cart', signal);

const hostilities: { readonly [what: string]: Hostility } = {
  'answers 500': {
    answer: (_, response) => response.writeHead(500).end('planted-body'),
    says: /^127\.0\.0\.1:\d+ answered 500$/,
    requestsMax: 1,
  },
  'is busy for good': {
    answer: (_, response) => response.writeHead(503).end(),
    says: /answered 503$/,
    requestsMax: 3,
  },
  'answers no JSON': {
    answer: (_, response) => response.end('{"tags":["planted'),
    says: /answered no JSON/,
    requestsMax: 1,
  },
  'answers without an end': {
    answer: (_, response) => {
      const piece = Buffer.alloc(2 ** 16, 0x20);
      const write = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', write);
      write();
    },
    says: /answered more than 4194304 bytes$/,
    requestsMax: 1,
  },
  'has pages on another host, in a path too': {
    answer: (_, response) =>
      response.setHeader('link', '<http://planted:1//localhost:1/v2/x>; rel="next"').end('{"tags":["1"]}'),
    says: /^127\.0\.0\.1:\d+ names as the next page the one that names it$/,
    requestsMax: 2,
  },
  'names a page as the next one of itself': {
    answer: ({ url = '' }, response) =>
      response.setHeader('link', `<${url}>; rel="next"`).end('{"tags":["1"]}'),
    says: /names as the next page the one that names it$/,
    requestsMax: 1,
  },
  'has too many tags': {
    answer: (_, response) => {
      const tags = Array.from({ length: 50_001 }, (_each, index) => `t${index}`);
      response.end(JSON.stringify({ tags }));
    },
    says: /answered more than 50000 tags$/,
    requestsMax: 1,
  },
  'redirects in a circle': {
    answer: ({ url = '' }, response) => response.writeHead(307, { location: url }).end(),
    says: /more than 5 redirects$/,
    requestsMax: 6,
  },
  'refuses all credentials': {
    answer: (_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="planted"' }).end(),
    says: /it refuses the username and password of the account$/,
    requestsMax: 2,
  },
  'answers something else than what has the digest': {
    answer: (_, response) => response.end('{"config":{}}'),
    says: /something else than what has the digest$/,
    ask: (client) => client.getImageDetails('shop/cart', digest, signal),
    requestsMax: 1,
  },
};

describe('a registry that', () => {
  test.each(forbiddenHosts)(
    'redirects to %s, or has its token server there, is not followed',
    async (host) => {
      const target = `https://${host}:1/planted`;
      const naming = { 'www-authenticate': `Bearer realm="${target}"` };
      for (const [status, header] of [
        [307, { location: target }],
        [401, naming],
      ] as const) {
        await using origin = await startOrigin((_, response) => response.writeHead(status, header).end());
        await using opened = openClient({ address: origin.url, ...credentials });
        await expect(listTags(opened.client)).rejects.toThrow(
          `the registry sends us to ${new URL(target).hostname}, which is not allowed: its address is not a public one (trustedHosts`,
        );
        expect(origin.requests).toHaveLength(1);
      }
    },
  );

  test.each(Object.entries(hostilities))('%s fails, in words that quote nothing', async (_, hostility) => {
    const { answer, says, ask = listTags, requestsMax } = hostility;
    await using origin = await startOrigin(answer);
    await using opened = openClient({ address: origin.url, ...credentials });
    const error: unknown = await getFailure(ask(opened.client));
    expect(error).toMatchObject({ message: expect.stringMatching(says) });
    expect(String(error)).not.toMatch(/planted|s3cr3t/);
    expect(origin.requests.length).toBeLessThanOrEqual(requestsMax);
  });

  test('answers without an end is not listened to for long', async () => {
    let sent = 0;
    await using origin = await startOrigin((_, response) => {
      const piece = Buffer.alloc(2 ** 16, 0x20);
      const write = () => {
        do sent += piece.length;
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', write);
      write();
    });
    await using opened = openClient({ address: origin.url });
    await expect(listTags(opened.client)).rejects.toThrow('answered more than');
    // What was under way when the connection was broken was sent, too.
    expect(sent).toBeLessThan(16 * 2 ** 20);
  });

  test('says when to come again is heard', async () => {
    let answered = 0;
    await using origin = await startOrigin((_, response) => {
      answered += 1;
      if (answered === 1) response.writeHead(429, { 'retry-after': '7' }).end();
      else response.end('{"tags":["1"]}');
    });
    const sleeps: number[] = [];
    const clock = {
      ...systemClock,
      sleep: async (ms: number, stop?: AbortSignal) => {
        sleeps.push(ms);
        // Time-outs are slept, too.
        if (ms > 10_000) await systemClock.sleep(ms, stop);
      },
    };
    await using opened = openClient({ address: origin.url }, { clock });
    expect(await listTags(opened.client)).toEqual(['1']);
    expect(sleeps).toContain(7_000);
  });
});

test('credentials stay with the registry when it redirects to a host that the account trusts', async () => {
  const blob = '{"created":"2026-01-01T00:00:00Z","config":{"Labels":{"branch":"main"}}}';
  const toDigest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const manifest = JSON.stringify({ config: { digest: toDigest(blob) } });
  await using store = await startOrigin((_, response) => response.end(blob));
  await using origin = await startOrigin(({ url = '', headers }, response) => {
    if (headers.authorization === undefined) {
      return response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    }
    if (url.includes('/manifests/')) return response.end(manifest);
    response.writeHead(307, { location: `http://localhost:${store.port}/blob` }).end();
  });
  await using opened = openClient({ address: origin.url, ...credentials, trustedHosts: ['localhost'] });
  const found = await opened.client.getImageDetails('shop/cart', toDigest(manifest), signal);
  expect(found.labels).toEqual({ branch: 'main' });
  expect(store.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});
