import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, it, onTestFinished } from 'vitest';
import { logRequest } from '#infra/server/front-door/request-log.ts';

const planted = 'planted-4711';
/** The line of a request that a server on this machine answered. */
async function record(request: Partial<APIGatewayProxyEvent>, body = '[]') {
  const lines: object[] = [];
  const log = { info: (message: string, fields?: object) => void lines.push({ message, ...fields }) };
  const requestContext = { requestId: 'r' } as APIGatewayProxyEvent['requestContext'];
  const event = { httpMethod: 'POST', path: '/kubernetes/ops', body: null, requestContext, ...request };
  const server = createServer((_, response) => {
    logRequest(event as APIGatewayProxyEvent, response, log);
    response.writeHead(200, { 'content-length': Buffer.byteLength(body) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}`)).text();
  await expect.poll(() => lines.length).toBe(1);
  return { line: JSON.stringify(lines), fields: lines[0] };
}

it('says what was asked and what became of it', async () => {
  const { fields } = await record(
    {
      multiValueQueryStringParameters: { clientRequestId: ['a'], q: ['b', 'c'] },
      multiValueHeaders: { 'X-SPINNAKER-USER': ['ada'] },
      body: JSON.stringify([{ deployManifest: { account: 'prod' } }]),
    },
    'äöü',
  );

  expect(fields).toMatchObject({
    message: 'request',
    method: 'POST',
    path: '/kubernetes/ops',
    query: { clientRequestId: 'a', q: 'b, c' },
    headers: { 'X-SPINNAKER-USER': 'ada' },
    body: [{ deployManifest: { account: 'prod' } }],
    status: 200,
    durationMs: expect.any(Number),
  });
});

it('counts the bytes of the answer', async () => {
  const [small, large] = [await record({}, '[]'), await record({}, 'x'.repeat(100_000))];
  expect(small.fields).toMatchObject({ body: null, answerBytes: expect.any(Number) });
  expect(JSON.parse(large.line)[0].answerBytes).toBeGreaterThan(100_000);
});

const applied = JSON.stringify({ kind: 'Secret', data: { a: planted } });
it.each<[string, Partial<APIGatewayProxyEvent>]>([
  ...['Authorization', 'cookie', 'Api-Key', 'X-Own-Token', 'X-SPINNAKER-PASSWORD'].map(
    (name): [string, Partial<APIGatewayProxyEvent>] => [name, { multiValueHeaders: { [name]: [planted] } }],
  ),
  ['a parameter', { multiValueQueryStringParameters: { access_token: [planted] } }],
  [
    'data of a Secret',
    toBody([{ a: [{ kind: 'Secret', data: { a: planted }, stringData: { b: planted } }] }]),
  ],
  ['a member', toBody({ a: { dbPassword: planted, apiKey: [planted], clientSecret: { b: planted } } })],
  ['what was applied last', toBody({ annotations: { last: applied, other: `{"token": "${planted}` } })],
  ['a text that is no JSON', { body: `password=${planted}` }],
  ['JSON that is broken', { body: `{"password": "${planted}` }],
  ['a large body', toBody({ password: planted, pad: 'x'.repeat(70_000) })],
  ['a deep body', { body: `${'['.repeat(1_000)}"${planted}"${']'.repeat(1_000)}` }],
  ['base64', { body: Buffer.from(`{"token":"${planted}"}`).toString('base64'), isBase64Encoded: true }],
])('shows no secret: %s', async (_, request) => {
  const { line } = await record(request);
  expect(line).toContain('request');
  expect(line).not.toContain(planted);
  expect(line).not.toContain(Buffer.from(planted).toString('base64'));
});

function toBody(value: object): Partial<APIGatewayProxyEvent> {
  return { body: JSON.stringify(value) };
}
