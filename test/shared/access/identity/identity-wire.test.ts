import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { createIdentifier } from '#access/identity/identity.ts';
import type { JsonObject } from '#core/json.ts';
import { parseError } from '#http/error-body.ts';
import { type HttpServer, startHttp } from '#infra/server/front-door/http.ts';
import { type Handler, Invoker } from '#infra/server/functions/invoker.ts';
import { systemClock } from '#platform/services/system.ts';
import { createTestLog } from '#test/shared/providers/artifacts/options.ts';

/** The front door of one machine, with one function, which tells whom it takes a caller for. */
async function start(identity: JsonObject | string): Promise<HttpServer> {
  const log = createTestLog();
  const settings = { busdriver: { identity } };
  const tell = async (event: APIGatewayProxyEvent) => {
    try {
      const identifier = await createIdentifier(settings, { clock: systemClock, log });
      return { statusCode: 200, body: JSON.stringify(await identifier.identify(event)) };
    } catch (error) {
      const body = parseError(error, 0);
      return { statusCode: body.status, body: JSON.stringify(body) };
    }
  };
  const route = {
    access: 'anonymous',
    method: 'GET',
    path: '/credentials',
    module: 'tell',
    reaches: 'store',
    timeoutSeconds: 20,
  };
  return startHttp({
    routes: [route] as unknown as Parameters<typeof startHttp>[0]['routes'],
    invoker: new Invoker(async () => tell as unknown as Handler, log),
    log,
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    readLoopDelayMs: () => 0,
  });
}

/** Status, and what is told. Headers are sent one by one, as they stand. */
async function ask({ url }: HttpServer, headers: readonly string[]): Promise<unknown[]> {
  const { host, port } = new URL(url);
  const target = { host: '127.0.0.1', port, path: '/credentials', agent: false };
  const call = request({ ...target, headers: ['Host', host, ...headers] });
  call.end();
  const [response] = await once(call, 'response');
  return [response.statusCode, JSON.parse(await text(response))];
}

it('takes callers for whom their headers name, and several headers for none', async () => {
  await using server = await start('header');
  const [user, accounts] = ['X-SPINNAKER-USER', 'X-SPINNAKER-ACCOUNTS'];

  const expectCaller = async (headers: readonly string[], caller: object) =>
    expect(await ask(server, headers)).toEqual([200, { kind: 'header', ...caller }]);
  const [both, spaced] = [
    ['prod', 'test'],
    ['prod\u00a0', 'test'],
  ] as const;
  await expectCaller([user, 'ada', accounts, 'prod, test'], { user: 'ada', allowedAccounts: both });
  await expectCaller([user, 'ada\u00a0', accounts, 'prod\u00a0, test'], {
    user: 'ada\u00a0',
    allowedAccounts: spaced,
  });
  await expectCaller([user, 'ada', accounts, 'prod', accounts.toLowerCase(), 'secret'], { user: 'ada' });
  await expectCaller([user.toLowerCase(), 'ada', user, 'eve'], {});
});

it('takes callers for whom their token names', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwks = { keys: [await exportJWK(publicKey)] } as JsonObject;
  await using server = await start({ mode: 'signed', issuer: 'gate', audience: 'busdriver', jwks });
  const token = await new SignJWT({ accounts: ['prod'] })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer('gate')
    .setAudience('busdriver')
    .setSubject('ada')
    .setExpirationTime('5m')
    .sign(privateKey);

  const [ours, shown] = [
    ['X-Busdriver-Identity', token],
    { kind: 'signed', user: 'ada', allowedAccounts: ['prod'] },
  ];
  expect(await ask(server, ours)).toEqual([200, shown]);
  const refusal = expect.objectContaining({ status: 401, error: 'Unauthorized' });
  for (const headers of [[], ['X-SPINNAKER-USER', 'ada'], [...ours, 'X-SPINNAKER-USER', 'eve']])
    expect(await ask(server, headers)).toEqual([401, refusal]);
});

it('takes nobody in by certificates where none is shown', async () => {
  await using server = await start('mtls');
  const message = 'Expected a client certificate, which the connection has not';
  expect(await ask(server, ['X-SPINNAKER-USER', 'ada'])).toEqual([401, expect.objectContaining({ message })]);
});
