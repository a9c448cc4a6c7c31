import type { LookupAddress } from 'node:dns';
import { expect, test } from 'vitest';
import { hostAddressesMax } from '#provider-kit/http-client/guarded-lookup.ts';
import { startGuardedAgent } from '#providers/artifacts/download/guarded-agent.ts';
import { parseUrlRestrictions } from '#providers/artifacts/download/url-restrictions.ts';
import { startOrigin } from '../origin.ts';

const loopback: LookupAddress = { address: '127.0.0.1', family: 4 };
const privateAddress: LookupAddress = { address: '10.0.0.1', family: 4 };
const documentation: LookupAddress = { address: '203.0.113.1', family: 4 };

/** A client for which each look-up answers the next list of addresses, in the end the last one again and again. */
function startClient(answers: readonly (readonly LookupAddress[])[], allowedIps: string[]) {
  const lookups: string[] = [];
  const agent = startGuardedAgent({
    restrictions: parseUrlRestrictions({ allowedIps }, 'a'),
    connectTimeoutMs: 1_000,
    resolve: async (hostname) => {
      lookups.push(hostname);
      return answers[Math.min(lookups.length, answers.length) - 1] ?? [];
    },
  });
  return {
    lookups,
    async read(origin: string) {
      const { body } = await agent.request({ origin, path: '/', method: 'GET' });
      return body.text();
    },
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}

test('dials the addresses that it judged: there is no second look-up to cheat', async () => {
  await using origin = await startOrigin((_, response) => response.end('hello'));
  await using client = startClient([[loopback], [privateAddress]], ['127.0.0.1']);
  expect(await client.read(`http://files.example.com:${origin.port}`)).toBe('hello');
  expect(origin.requests[0]?.headers.host).toBe(`files.example.com:${origin.port}`);
  expect(client.lookups).toEqual(['files.example.com']);
});

test.each([[[loopback]], [[documentation, loopback]], [[loopback, documentation]]])(
  'never dials where an address is not allowed: %j',
  async (addresses) => {
    await using origin = await startOrigin((_, response) => response.end('secret'));
    await using client = startClient([addresses], ['203.0.113.1']);
    await expect(client.read(`http://files.example.com:${origin.port}`)).rejects.toThrow(
      "Host 'files.example.com' is not allowed: it is this machine",
    );
    expect(origin.connections).toBe(0);
  },
);

test('judges some of the addresses of a name that has thousands, and dials these', async () => {
  await using origin = await startOrigin((_, response) => response.end('hello'));
  const documentations = Array.from({ length: 65_000 }, () => documentation);
  const judged = [loopback, ...documentations.slice(1, hostAddressesMax)];
  await using client = startClient(
    [[...judged, privateAddress, ...documentations]],
    ['127.0.0.1', '203.0.113.1'],
  );
  expect(await client.read(`http://files.example.com:${origin.port}`)).toBe('hello');
});

test('judges each connection anew, so that a name cannot change its mind', async () => {
  await using origin = await startOrigin((_, response) => {
    response.setHeader('connection', 'close');
    response.end('hello');
  });
  await using client = startClient([[loopback], [privateAddress]], ['127.0.0.1']);
  const url = `http://files.example.com:${origin.port}`;
  expect(await client.read(url)).toBe('hello');
  await expect(client.read(url)).rejects.toThrow('its address is private');
  expect(client.lookups).toEqual(['files.example.com', 'files.example.com']);
});

test('judges what it is connected to, where nothing was looked up', async () => {
  await using origin = await startOrigin((_, response) => response.end('secret'));
  await using client = startClient([[loopback]], []);
  await expect(client.read(origin.url)).rejects.toThrow("Host '127.0.0.1' is not allowed");
  expect(client.lookups).toEqual([]);
  expect(origin.requests).toEqual([]);
});
