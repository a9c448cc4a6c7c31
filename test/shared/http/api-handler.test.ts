import { gunzipSync, gzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { BreakerOpenError } from '#core/breaker.ts';
import { TimeoutError } from '#core/deadline.ts';
import { ConfigurationError, InvalidInputError, NotFoundError, UnavailableError } from '#core/errors.ts';
import type { LogFields, Logger } from '#core/logger.ts';
import type { ApiRequest, ApiResponse } from '#http/api-handler.ts';
import { apiHandler, ok, okText } from '#http/api-handler.ts';
import { readConfig } from '#platform/config.ts';

const errors: { message: string; fields: LogFields | undefined }[] = [];
const log: Logger = {
  debug() {},
  info() {},
  warn() {},
  error: (message, fields) => void errors.push({ message, fields }),
};

beforeEach(() => void errors.splice(0));

interface Given {
  /** Default: one that asks nothing. */
  readonly route?: { readonly httpMethod: string; readonly resource: string };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly remainingMs?: number;
  readonly open?: () => Promise<{ log: Logger }>;
}

/** Without the global of Lambda's runtime, as in an emulator of it, functions return their answer. */
async function call(
  run: (request: ApiRequest) => Promise<ApiResponse>,
  given: Given = {},
): Promise<APIGatewayProxyResult> {
  const handler = apiHandler(given.open ?? (() => ({ log })), run) as (
    event: APIGatewayProxyEvent,
    context: Context,
  ) => Promise<APIGatewayProxyResult>;
  const { headers = {}, body = null, isBase64Encoded = false, remainingMs = 20_000 } = given;
  const route = given.route ?? { httpMethod: 'GET', resource: '/health' };
  const event = {
    ...route,
    headers,
    body,
    isBase64Encoded,
    pathParameters: null,
    queryStringParameters: null,
  };
  const context = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis: () => remainingMs };
  return handler(event as unknown as APIGatewayProxyEvent, context as unknown as Context);
}

const acceptsGzip = { 'Accept-Encoding': 'gzip', Accept: 'application/json' };

async function* arrive(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

describe('an answer in one piece', () => {
  it('is text', async () => {
    expect(await call(async () => ok({ a: 'ü' }))).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json;charset=UTF-8', 'X-Content-Type-Options': 'nosniff' },
      body: '{"a":"ü"}',
      isBase64Encoded: false,
    });
  });

  it('is gzipped, in base64, for who accepts gzip and something at all', async () => {
    const run = async (): Promise<ApiResponse> => okText('x'.repeat(100_000));
    const { headers, body, isBase64Encoded } = await call(run, { headers: acceptsGzip });
    expect([headers?.['Content-Encoding'], isBase64Encoded]).toEqual(['gzip', true]);
    expect(gunzipSync(Buffer.from(body, 'base64'))).toHaveLength(100_000);
    for (const refused of [
      { 'Accept-Encoding': 'gzip' },
      { ...acceptsGzip, 'Accept-Encoding': 'gzip;q=0' },
    ]) {
      expect((await call(run, { headers: refused })).body).toHaveLength(100_000);
    }
  });

  it('holds bytes, whole or as they arrive, in base64', async () => {
    for (const body of [Buffer.from([0, 255]), arrive(Buffer.from([0]), Buffer.from([255]))]) {
      const answer = await call(async () => ({ status: 200, body, contentType: 'application/octet-stream' }));
      expect(answer).toMatchObject({ body: 'AP8=', isBase64Encoded: true });
    }
  });

  it.each([
    ['text', 'x'.repeat(7_000_000)],
    ['text that exceeds it once it is escaped', '"'.repeat(4_000_000)],
    ['bytes that exceed it in base64', Buffer.alloc(5_000_000)],
    ['bytes that arrive', arrive(Buffer.alloc(4_000_000), Buffer.alloc(4_000_000))],
  ])('of %s over the limit of Lambda is an error that says so, and is logged', async (_, body) => {
    const answer = await call(async () => ({ status: 200, body }));
    expect(answer.statusCode).toBe(500);
    expect(JSON.parse(answer.body).message).toMatch(
      /^The answer is too large: its \d+ bytes or more exceed the 6 MB \(6291556 bytes\) .* responseStreaming$/,
    );
    expect(errors).toEqual([{ message: 'request failed', fields: expect.objectContaining({ status: 500 }) }]);
  });

  it('just below the limit is none', async () => {
    const answer = await call(async () => okText('x'.repeat(6_000_000)));
    expect(answer.statusCode).toBe(200);
  });
});

describe('what is thrown', () => {
  it('for the environment is the fault of who set it, and says so', async () => {
    const environment = { BUSDRIVER_LOG_LEVEL: 'LOUD' };
    const answer = await call(() => Promise.reject(new Error('it opens nothing')), {
      open: async () => {
        readConfig(environment);
        return { log };
      },
    });
    expect(answer.statusCode).toBe(500);
    expect(JSON.parse(answer.body).message).toContain(
      "environment variable BUSDRIVER_LOG_LEVEL must be one of INFO, DEBUG, WARN, ERROR, SILENT, not 'LOUD'",
    );
  });

  it("is told in Clouddriver's words", async () => {
    const answer = await call(async () => {
      throw new NotFoundError('Task not found');
    });
    expect([answer.statusCode, JSON.parse(answer.body)]).toEqual([
      404,
      expect.objectContaining({ status: 404, error: 'Not Found', message: 'Task not found' }),
    ]);
    expect(errors).toEqual([]);
  });

  it('as a defect is logged, and told to nobody', async () => {
    const answer = await call(async () => {
      throw new TypeError('hunter2');
    });
    expect([answer.statusCode, answer.body.includes('hunter2')]).toEqual([500, false]);
    expect(errors).toHaveLength(1);
  });

  it('while its body has not begun to arrive is told as well', async () => {
    const broken = (async function* (): AsyncGenerator<Uint8Array> {
      yield* [];
      throw new NotFoundError('The file is gone');
    })();
    expect((await call(async () => ({ status: 200, body: broken }))).statusCode).toBe(404);
  });
});

it('answers 504 before its time ends, and stops what it waits for', async () => {
  let seen: AbortSignal | undefined;
  const answer = await call(
    ({ signal }) => {
      seen = signal;
      return new Promise(() => undefined);
    },
    { remainingMs: 120 },
  );
  expect([answer.statusCode, seen?.aborted]).toEqual([504, true]);
});

it('answers 503 to who waits for a task: he is to try again', async () => {
  const answer = await call(() => Promise.reject(new Error('nobody is let in')), {
    route: { httpMethod: 'GET', resource: '/task/{id}' },
    open: () => new Promise(() => undefined),
    remainingMs: 120,
  });
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
});

describe('a body', () => {
  const parse = async (request: ApiRequest): Promise<ApiResponse> => ok(request.parseJson());

  it('is read from text and from base64', async () => {
    expect((await call(parse, { body: '{"a":1}' })).body).toBe('{"a":1}');
    const body = Buffer.from('{"a":1}').toString('base64');
    expect((await call(parse, { body, isBase64Encoded: true })).body).toBe('{"a":1}');
  });

  it.each([
    ['over the limit', 413, JSON.stringify('x'.repeat(23_100_000))],
    ['of something else', 400, gzipSync('{}').toString('latin1')],
    ['that is missing', 400, undefined],
  ])('%s is refused with %i', async (_, status, body) => {
    const answer = await call(parse, body === undefined ? {} : { body });
    expect(answer.statusCode).toBe(status);
    if (status === 413) {
      expect(JSON.parse(answer.body).message).toBe(
        'The request is too large: its body of 23100002 bytes exceeds the 23068672 bytes that are accepted; ' +
          'send less at once, such as fewer manifests in a stage',
      );
    }
  });
});

describe('an answer that the caller should try again', () => {
  const throttles = [
    ...['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'],
    ...['LimitExceededException', 'AWS.SimpleQueueService.RequestThrottled', 'KmsThrottled'],
  ].map((name): [string, Error] => {
    const error = { name, $fault: 'client', $metadata: { httpStatusCode: 400 } };
    return [
      `of ${name}, which is a fault of the client to the SDK,`,
      Object.assign(new Error('slow down'), error),
    ];
  });

  it.each([
    ['of what is away', new UnavailableError('Front50 does not answer')],
    [
      'of a store that throttles',
      Object.assign(new Error('slow down'), { $retryable: { throttling: true } }),
    ],
    ...throttles,
    ['of what ran out of time', new TimeoutError('a call took longer than 4500 ms')],
    ['of what is left alone for a while', new BreakerOpenError('the queue has failed')],
  ])('%s says when', async (_, error) => {
    const answer = await call(() => Promise.reject(error));
    expect(answer).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
  });

  it.each([
    ['no defect is', new Error('defect')],
    ['no environment that is set wrong is', new ConfigurationError('environment variable X must be set')],
    ['no bad input is', new InvalidInputError('bad')],
  ])('%s', async (_, error) => {
    const answer = await call(() => Promise.reject(error));
    expect(answer.headers).not.toHaveProperty('Retry-After');
  });
});
