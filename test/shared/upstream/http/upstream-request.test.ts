import { expect, it } from 'vitest';
import { getRoute } from '#access/http/access-table.ts';
import { unknownPath } from '#functions/upstream-routes.ts';
import { createProxyEvent } from '#test/support/system/proxy-event.ts';
import { toUpstreamRequest } from '#upstream/http/upstream-request.ts';

const route = getRoute({ httpMethod: 'GET', resource: '/credentials' });

it('where callers prove who they are, nothing else of them goes upstream', () => {
  const claims = createProxyEvent([
    ['X-SPINNAKER-USER', 'root'],
    ['X-SPINNAKER-ACCOUNTS', 'all'],
    ['X-SPINNAKER-APPLICATION', 'app'],
  ]);
  const event = { ...claims, body: null, queryStringParameters: null, multiValueQueryStringParameters: null };
  const ada = { kind: 'signed', user: 'ada', allowedAccounts: undefined } as const;
  const { headers } = toUpstreamRequest(event, route, { identity: ada, isProven: true });
  expect(headers).toEqual({
    ...{ 'user-agent': 'busdriver', 'x-spinnaker-application': 'app', 'x-spinnaker-user': 'ada' },
  });
  const nobody = { kind: 'header', user: undefined, allowedAccounts: undefined } as const;
  const open = toUpstreamRequest(event, route, { identity: nobody, isProven: true });
  expect(open.headers).toEqual({ 'user-agent': 'busdriver', 'x-spinnaker-application': 'app' });
});

it('no segment of a path leads elsewhere', () => {
  const event = {
    ...createProxyEvent([]),
    ...{ resource: '/task/{id}', path: '/task/..', pathParameters: { id: '..' }, body: null },
  };
  const task = getRoute({ httpMethod: 'GET', resource: '/task/{id}' });
  const identity = { kind: 'header', user: undefined, allowedAccounts: undefined } as const;
  expect(() => toUpstreamRequest(event, task, { identity, isProven: false })).toThrow(
    "The path holds a segment '..'",
  );
});

it.each([
  ['/admin/db/truncate/tasks', 'call the Clouddriver itself'],
  ['//Actuator/env', 'call the Clouddriver itself'],
  ['/%61dmin', 'call the Clouddriver itself'],
  ['/x/%2e%2e/admin', "The path holds a segment '..'"],
  ['/x%2f..%2fadmin', "The path holds a segment '..'"],
  ['/%2fadmin', 'call the Clouddriver itself'],
  ['/%zz', 'The path is not encoded'],
])('an unknown path %s stays here', (path, message) => {
  const event = { ...createProxyEvent([]), resource: unknownPath, path, body: null };
  const identity = { kind: 'header', user: undefined, allowedAccounts: undefined } as const;
  const unknown = getRoute({ httpMethod: 'GET', resource: unknownPath });
  expect(() => toUpstreamRequest(event, unknown, { identity, isProven: false })).toThrow(message);
});
