import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { expect, it } from 'vitest';
import { NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { LogFields, Logger } from '#core/logger.ts';
import { type ApiResponse, apiHandler, ok } from '#http/api-handler.ts';
import { pickPublicSettings } from '#settings/public-settings.ts';
import { areRequestsLogged, deployedRequestLogMs } from '#settings/request-log-settings.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';

interface Given {
  /** What stands below `busdriver.log`. */
  readonly setting: JsonObject;
  readonly placement: 'local' | 'deployed';
  readonly verboseRequests?: boolean;
  readonly event?: object;
  readonly run?: () => Promise<ApiResponse>;
}

/** The lines of a request to a route that asks nothing, by a function that knows the settings. */
async function listLines(given: Given) {
  const { setting, placement, verboseRequests = false, event = {} } = given;
  const lines: (LogFields & { message: string })[] = [];
  const note = (message: string, fields?: LogFields): void => void lines.push({ message, ...fields });
  const log: Logger = { debug() {}, info: note, warn: note, error: note };
  const providers = { findAccount: () => undefined, findAuthorizer: () => undefined };
  const config = { placement, verboseRequests };
  const settings = { busdriver: { log: setting } };
  const services = { log, providers, settings, config, clock: createStandingClock() };
  const handler = apiHandler(() => services, given.run ?? (async () => ok({ a: 'ü' }))) as (
    event: APIGatewayProxyEvent,
    lambda: Context,
  ) => Promise<APIGatewayProxyResult>;
  const request = {
    httpMethod: 'GET',
    resource: '/credentials',
    path: '/credentials',
    headers: {},
    multiValueHeaders: { Authorization: ['planted-4711'], 'X-SPINNAKER-USER': ['ada'] },
    multiValueQueryStringParameters: { expand: ['true'] },
    ...event,
  };
  const lambda = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis: () => 20_000 };
  await handler(request as unknown as APIGatewayProxyEvent, lambda as unknown as Context);
  return lines;
}

const verbose = { requests: 'verbose' };
const allowed = { ...verbose, allowVerboseDeployed: true };

it.each([
  ['one machine', verbose, 'local'],
  ['deployed functions that may', allowed, 'deployed'],
] as const)('by the settings, %s logs requests, without secrets', async (_what, setting, placement) => {
  expect(await listLines({ setting, placement })).toEqual([
    {
      message: 'request',
      method: 'GET',
      path: '/credentials',
      query: { expand: 'true' },
      headers: { Authorization: '******', 'X-SPINNAKER-USER': 'ada' },
      body: null,
      status: 200,
      answerBytes: 10,
      durationMs: expect.any(Number),
    },
  ]);
});

it.each<[string, Given]>([
  ['nothing is said', { setting: {}, placement: 'local' }],
  ['another word is said', { setting: { requests: 'all' }, placement: 'local' }],
  ['the front door logs them', { setting: verbose, placement: 'local', verboseRequests: true }],
  ['deployed functions may not', { setting: verbose, placement: 'deployed' }],
])('no request is logged where %s', async (_what, given) => {
  expect(await listLines(given)).toEqual([]);
});

it('a request that fails is logged, too', async () => {
  const run = async (): Promise<never> => {
    throw new NotFoundError('no such thing');
  };
  const event = { body: '{"password": "planted-4711"}' };
  expect(await listLines({ setting: verbose, placement: 'local', event, run })).toMatchObject([
    { message: 'request', body: { password: '******' }, status: 404 },
  ]);
});

it('ends with the first hour of a deployed process', () => {
  const settings = { busdriver: { log: allowed } };
  const ask = (placement: 'local' | 'deployed', ageMs: number): boolean =>
    areRequestsLogged(settings, { config: { placement }, ageMs });
  expect(ask('deployed', deployedRequestLogMs - 1)).toBe(true);
  expect(ask('deployed', deployedRequestLogMs)).toBe(false);
  expect(ask('local', deployedRequestLogMs)).toBe(true);
});

it('is known to functions that have the public settings alone', () => {
  const published = pickPublicSettings({ busdriver: { log: allowed, tokenBrokers: {} } });
  expect(published).toEqual({ busdriver: { log: allowed } });
});
