import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '#core/errors.ts';
import { parseProjects } from '#providers/front50/answers.ts';
import { createFront50Client, type Front50Client } from '#providers/front50/client.ts';
import { hostileServers } from '#test/support/network/hostile-servers.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { type Front50, startFront50 } from '#test/support/services/front50.ts';
import { createTestClock, middling, type TestClock } from '../artifacts/options.ts';

let front50: Front50;
let clock: TestClock;
let client: Front50Client;

beforeEach(async () => {
  front50 = await startFront50();
  clock = createTestClock();
  client = createClient(20_000);
});
disposeAfterEach(() => [client, front50]);

function createClient(totalMs: number): Front50Client {
  return createFront50Client({
    baseUrl: new URL(`${front50.url}/base/`),
    clock,
    randomness: middling,
    // A good answer on a busy machine takes less.
    limits: { silenceMs: 2_000, totalMs, bytesMax: 1_000 },
  });
}

/** Answers request after request by the next listener, in the end by the last one. */
function inTurn(...listeners: readonly RequestListener[]): RequestListener {
  return (request, response) =>
    listeners[Math.min(front50.asked.length, listeners.length) - 1]?.(request, response);
}

const status =
  (code: number, headers: { readonly [name: string]: string } = {}): RequestListener =>
  (_, response) =>
    response.writeHead(code, headers).end('{}');
function text(body: string): RequestListener {
  return (_, response) => response.end(body);
}
const good = text('["ü"]');
const silent: RequestListener = () => {};
const cutOff: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-length': 100 }).write('[1,');
  response.socket?.end();
};
const stalled: RequestListener = (_, response) => response.write('[1,');

describe('a question to Front50', () => {
  it('is asked below the base URL', async () => {
    front50.instead = good;
    expect(await client.getJson('v2/projects?a=b')).toEqual(['ü']);
    expect(front50.asked).toEqual(['/base/v2/projects?a=b']);
  });

  it.each([
    ['500', status(500)],
    ['429', status(429)],
    ['silence', silent],
    ['a connection that breaks', cutOff],
    ['an answer that stalls', stalled],
    ['half a JSON', text('[1,')],
  ])('is asked again after %s, a little later each time', async (_name, bad) => {
    front50.instead = inTurn(bad, bad, good);
    expect(await client.getJson('v2/projects')).toEqual(['ü']);
    expect(front50.asked).toHaveLength(3);
    expect(clock.sleeps).toEqual([100, 200]);
  });

  it.each([
    ['500 again and again', status(500), 3, 'it answered 500'],
    ['404', status(404), 1, 'it answered 404'],
    ['HTML', text('<html>'), 3, 'its answer is not JSON'],
    ['too much', text(`"${'x'.repeat(2_000)}"`), 1, 'its answer is larger than 1000 bytes'],
    ['a nest', text('['.repeat(500)), 1, 'its answer is nested deeper than 128 levels'],
  ] as const)('fails with the reason after %s', async (...[, bad, times, reason]) => {
    front50.instead = bad;
    await expect(client.getJson('v2/projects')).rejects.toThrow(
      new UnavailableError(`Front50 (${front50.url}) cannot be asked: ${reason}`),
    );
    expect(front50.asked).toHaveLength(times);
  });

  it.each(hostileServers.filter(({ name }) => !name.includes('watch')))(
    'takes bounded time and memory of a server that answers $name',
    async ({ start }) => {
      await using hostile = await start();
      await using hasty = createFront50Client({
        baseUrl: new URL(`${hostile.url}/`),
        clock,
        randomness: middling,
        limits: { silenceMs: 500, totalMs: 3_000 },
      });
      const idleBytes = process.memoryUsage().rss;
      const answer = hasty.getJson('v2/projects').then(parseProjects);
      await expect(answer).rejects.toThrow(/^Front50 .* cannot be asked: |its answer is no list/);
      expect(process.memoryUsage().rss - idleBytes).toBeLessThan(300 * 2 ** 20);
      await expect.poll(() => hostile.connections).toBeLessThanOrEqual(1);
    },
  );

  it('fails when nobody listens', async () => {
    await front50[Symbol.asyncDispose]();
    await expect(client.getJson('v2/projects')).rejects.toThrow(/cannot be asked: .*ECONNREFUSED/);
    front50 = await startFront50();
  });

  it('ends in time, whatever Front50 does', async () => {
    front50.instead = (_, response) => {
      const trickle = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(trickle));
    };
    await using hasty = createClient(300);
    await expect(hasty.getJson('v2/projects')).rejects.toThrow(/: no answer within 300 ms$/);
  });

  it('follows no redirect', async () => {
    await using other = await startFront50();
    front50.instead = status(302, { location: `${other.url}/v2/projects` });
    await expect(client.getJson('v2/projects')).rejects.toThrow(/: it answered 302$/);
    expect(other.asked).toEqual([]);
  });
});
