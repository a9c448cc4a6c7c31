import { createServer, type ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { breakerFailuresMax } from '#core/breaker.ts';
import { type ApiResponse, apiHandler, ok } from '#http/api-handler.ts';
import { publishTriesMax } from '#platform/aws/event-bus.ts';
import { variables } from '#platform/config.ts';
import { callTimeouts } from '#platform/services/aws-clients.ts';
import { openTasks, type TaskServices } from '#tasks/services/tasks.ts';
import { newTask } from '#test/contracts/store-bench.ts';
import { listenLocally } from '#test/support/network/local-server.ts';

/** What AWS does with each request. */
let answer: (response: ServerResponse) => void = () => undefined;
let requests = 0;

const server = createServer((request, response) => {
  requests += 1;
  request.resume();
  answer(response);
});

beforeAll(async () => {
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  vi.stubEnv('AWS_ENDPOINT_URL', url);
  vi.stubEnv(variables.tasksTable, 'tasks');
  vi.stubEnv(variables.cacheTable, 'cache');
  vi.stubEnv(variables.operationsQueueUrl, `${url}/operations`);
  vi.stubEnv(variables.agentsQueueUrl, `${url}/agents`);
  vi.stubEnv(variables.busName, 'busdriver');
  vi.stubEnv(variables.placement, 'local');
  vi.stubEnv(variables.engineAccessKeyId, 'id');
  vi.stubEnv(variables.engineSecretAccessKey, 'secret');
  vi.stubEnv(variables.logLevel, 'SILENT');
});

beforeEach(() => {
  requests = 0;
});

afterAll(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

/** AWS refuses with an error of this name. */
function refuse(name: string): void {
  answer = (response) => {
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(
      JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'slow down' }),
    );
  };
}

function hang(): void {
  answer = () => undefined;
}

/** AWS begins an answer, and does not end it. */
function stall(): void {
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': '100' });
    response.write('{"Item":');
  };
}

/** What a function answers that works with tasks, and after how many milliseconds. */
async function call(
  run: (context: TaskServices) => Promise<unknown>,
): Promise<{ answered: APIGatewayProxyResult; ms: number }> {
  const handler = apiHandler(openTasks, async (_request, context): Promise<ApiResponse> => {
    await run(context);
    return ok({});
  }) as (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;
  const event = { httpMethod: 'GET', resource: '/health', headers: {}, body: null };
  const lambda = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis: () => 20_000 };
  const startedAt = performance.now();
  const answered = await handler(event as unknown as APIGatewayProxyEvent, lambda as unknown as Context);
  return { answered, ms: performance.now() - startedAt };
}

const away = { statusCode: 503, headers: { 'Retry-After': '1' } };
const accept = ({ store }: TaskServices): Promise<unknown> => store.accept(newTask());
const find = ({ store }: TaskServices): Promise<unknown> => store.find('01A');

describe('a caller is told 503', () => {
  test.each([
    'ProvisionedThroughputExceededException',
    'ThrottlingException',
    'RequestLimitExceeded',
    'LimitExceededException',
  ])('at once when DynamoDB answers %s, which is asked twice at most', async (name) => {
    refuse(name);
    for (const { run, callsAtOnce } of [
      { run: accept, callsAtOnce: 3 },
      { run: find, callsAtOnce: 1 },
    ]) {
      requests = 0;
      const { answered, ms } = await call(run);
      expect(answered).toMatchObject(away);
      // Two tries with a pause of a tenth of a second: nothing waited for a call's time to end.
      expect(ms).toBeLessThan(callTimeouts.request.callMs);
      expect(requests).toBe(callsAtOnce * callTimeouts.request.triesMax);
    }
  });

  test.each([
    ['says nothing', hang],
    ['does not end its answer', stall],
  ])('long before its function ends when DynamoDB %s', async (_, script) => {
    script();
    const { answered, ms } = await call(accept);
    expect(answered).toMatchObject(away);
    // Usually 4.5 s, on a busy machine some more. Without a limit of its own the call would last as long as the function may, 20 s.
    expect(ms).toBeLessThan(3 * callTimeouts.request.callMs);
    // The open row, the header and the row of its day are written at once.
    expect(requests).toBeLessThanOrEqual(3 * callTimeouts.request.triesMax);
  });
});

describe('what is away is left alone after some failures', () => {
  test.each([
    [
      'the queue',
      callTimeouts.request.triesMax,
      ({ queue }: TaskServices) => queue.send({ taskId: '01A', account: 'a' }),
    ],
    [
      'the bus',
      publishTriesMax * callTimeouts.bus.triesMax,
      ({ bus }: TaskServices) => bus.publish([{ type: 'T', atMs: 0, detail: {} }]),
    ],
  ])('%s', async (_, triesMax, run) => {
    refuse('ThrottlingException');
    for (let failure = 0; failure < breakerFailuresMax + 5; failure += 1) {
      expect((await call(run)).answered).toMatchObject(away);
    }
    expect(requests).toBe(breakerFailuresMax * triesMax);
  });
});
