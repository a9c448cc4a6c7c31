import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { callJson } from './aws-calls.ts';

const call = { service: 'logs', target: 'Logs_20140328.DescribeLogGroups', input: {} };
const servers: ReturnType<typeof createServer>[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A service that answers these statuses, one a call, and the last of them to all further calls. */
async function serve(...statuses: readonly number[]): Promise<{ url: string; calls: () => number }> {
  let calls = 0;
  const server = createServer((_, response) => {
    const status = statuses[Math.min(calls++, statuses.length - 1)] ?? 200;
    response.writeHead(status, { connection: 'close' }).end('{"logGroups":[]}');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls };
}

describe('a call of an AWS service', () => {
  it('is sent anew while the service answers 500', async () => {
    const service = await serve(500, 500, 200);
    expect(await callJson(service.url, call)).toEqual({ logGroups: [] });
    expect(service.calls()).toBe(3);
  });

  it('fails with the answer of a service that stays broken', async () => {
    const service = await serve(500);
    await expect(callJson(service.url, call)).rejects.toThrow('DescribeLogGroups answered 500');
    expect(service.calls()).toBe(7);
  });

  it('is not sent anew when it is refused', async () => {
    const service = await serve(400);
    await expect(callJson(service.url, call)).rejects.toThrow('answered 400');
    expect(service.calls()).toBe(1);
  });
});
