import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openGatewayHints } from '#agents/sessions/gateway-hints.ts';
import { Services } from '#platform/services/services.ts';
import { closeServer, listenLocally } from '#test/support/network/local-server.ts';

/** What API Gateway answers to a call, and the calls that it saw. */
const gateway = { status: 200, isSilent: false, calls: [] as string[] };
let server: ReturnType<typeof createServer>;
let services: Services;

beforeEach(async () => {
  Object.assign(gateway, { status: 200, isSilent: false, calls: [] });
  server = createServer(async (request, response) => {
    gateway.calls.push(`${request.method} ${request.url} ${await text(request)}`);
    if (gateway.isSilent) return;
    const errors = new Map([
      [403, 'ForbiddenException'],
      [410, 'GoneException'],
    ]);
    const type = errors.get(gateway.status);
    response.writeHead(gateway.status, type === undefined ? {} : { 'x-amzn-errortype': type }).end('{}');
  });
  const port = await listenLocally(server);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAOWN');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'own-secret-key');
  services = new Services({
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'https://sqs.example.com/agents',
    BUSDRIVER_BUS_NAME: 'bus',
    BUSDRIVER_LOG_LEVEL: 'SILENT',
    BUSDRIVER_HINTS_URL: `ws://127.0.0.1:${port}/live`,
  });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await services[Symbol.asyncDispose]();
  await closeServer(server);
});

const connection = {
  ...{ id: 'L0SM9cOFvHcCIhw=', account: 'edge', session: 'one', agentId: 'pod', zone: '' },
  ...{ transport: 'websocket', connectedAtMs: 0 },
};
const path = '/live/%40connections/L0SM9cOFvHcCIhw%3D';
const send = (kind: 'TASK' | 'CLOSE') =>
  openGatewayHints(services)(connection, { kind, account: 'edge', id: 'task-1' });

it('posts a hint to the connection, in one frame', async () => {
  expect(await send('TASK')).toBe('delivered');
  const [call = ''] = gateway.calls;
  expect(decodeURIComponent(call.split(' ').slice(0, 2).join(' '))).toBe(`POST ${decodeURIComponent(path)}`);
  expect(JSON.parse(call.slice(call.indexOf('{')))).toEqual({
    ...{ v: 1, t: 'work', k: 'task', a: 'edge', id: 'task-1' },
  });
});

it('ends the connection of a session that is closed', async () => {
  expect(await send('CLOSE')).toBe('delivered');
  expect(gateway.calls.map((call) => call.split(' ')[0])).toEqual(['POST', 'DELETE']);
});

it('tells that a connection is gone', async () => {
  gateway.status = 410;
  expect(await send('TASK')).toBe('gone');
});

it('gives up where it is refused, without another try', async () => {
  gateway.status = 403;
  expect(await send('TASK')).toBe('failed');
  expect(gateway.calls).toHaveLength(1);
});

it('gives up after a second without an answer', async () => {
  gateway.isSilent = true;
  const startedAtMs = performance.now();
  expect(await send('TASK')).toBe('failed');
  expect(performance.now() - startedAtMs).toBeGreaterThan(900);
  expect(gateway.calls).toHaveLength(1);
});
