import { expect, test } from 'vitest';
import { AwaitedAnswers } from '#agents/services/awaited-answers.ts';
import { AccessDeniedError } from '#core/errors.ts';
import type { HostAccess } from '#infra/kubernetes/host-access.ts';
import { createHostRoutes } from '#infra/kubernetes/host-routes.ts';
import { HintConnections } from '#infra/server/hints/hint-connections.ts';
import { createProxyEvent } from '#test/support/system/proxy-event.ts';
import { RecordedLog } from './pod.ts';

const log = new RecordedLog();

/** Calls a route whose callers are refused, or fail otherwise. */
async function call(module: string, refusal: Error, isReady = true) {
  const refuse = () => Promise.reject(refusal);
  const access: Pick<HostAccess, 'admitPeer' | 'admitOperator'> = {
    admitPeer: refuse,
    admitOperator: refuse,
  };
  const peer = { baseUrl: 'http://10.0.0.1:7002', id: 'a', lastUpdated: '', ready: true };
  const { findHandler } = createHostRoutes({
    access: access as HostAccess,
    peers: { list: () => [peer], find: () => peer, state: 'watching' },
    readiness: { isReady: async () => isReady },
    upstream: { health: undefined },
    connections: new HintConnections(),
    awaited: new AwaitedAnswers(),
    log,
  });
  const answer = await findHandler(module)?.(createProxyEvent([]), {} as never);
  return answer as { statusCode: number; headers: object; body: string };
}

const guarded = [
  'host GET /armory/clouddrivers',
  'host GET /armory/clouddrivers/{id}',
  'host POST /armory/agent/operations',
  'host POST /armory/agent/operationresults',
];

test.each(guarded)('%s asks who calls before anything else', async (module) => {
  const { statusCode, body } = await call(module, new AccessDeniedError('no'));
  expect(statusCode).toBe(403);
  expect(JSON.parse(body)).toMatchObject({ error: 'Forbidden', message: 'no' });
});

test('what fails is logged, and its message stays there', async () => {
  const { statusCode, body } = await call(guarded[0] ?? '', new Error('secret detail'));
  expect(statusCode).toBe(500);
  expect(body).not.toContain('secret detail');
  expect(log.messages).toEqual(['a route of this home failed']);
});

test('it is out of service until it is ready, and alive all the while', async () => {
  const refusal = new Error('not asked');
  expect(await call('host GET /health/readiness', refusal, false)).toMatchObject({
    statusCode: 503,
    headers: { 'Retry-After': '1' },
    body: '{"status":"OUT_OF_SERVICE"}',
  });
  expect(await call('host GET /health/readiness', refusal)).toMatchObject({
    statusCode: 200,
    body: '{"status":"UP"}',
  });
  expect((await call('host GET /health', refusal, false)).statusCode).toBe(200);
});

test('its health asks nobody, and other modules are functions', async () => {
  expect((await call('host GET /health', new Error('not asked'))).statusCode).toBe(200);
  expect(await call('api/health/get-health', new Error('not asked'))).toBeUndefined();
});
