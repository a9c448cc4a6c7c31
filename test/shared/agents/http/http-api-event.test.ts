import { describe, expect, it } from 'vitest';
import { type HttpApiEvent, toRestEvent } from '#agents/http/http-api-event.ts';

/** The members of the example of AWS' documentation, for a route of ours. */
const event: HttpApiEvent & object = {
  version: '2.0',
  routeKey: 'PUT /agent/v1/reads/{read}/answer',
  rawPath: '/agent/v1/reads/a b/answer',
  rawQueryString: 'part=1&part=2&name=a%2Cb&empty=',
  headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
  pathParameters: { read: 'a b' },
  body: 'e30=',
  isBase64Encoded: true,
  requestContext: {
    requestId: 'id',
    stage: '$default',
    http: { method: 'PUT', sourceIp: '192.0.2.1', userAgent: 'agent' },
    authorizer: {
      iam: { userArn: 'arn:aws:sts::111122223333:assumed-role/edge-7/x', accountId: '111122223333' },
    },
    authentication: { clientCert: { subjectDN: 'CN=edge-7' } },
  },
};

describe('an event of an HTTP API', () => {
  it('becomes one of a REST API', () => {
    expect(toRestEvent(event)).toMatchObject({
      httpMethod: 'PUT',
      resource: '/agent/v1/reads/{read}/answer',
      path: '/agent/v1/reads/a b/answer',
      headers: event.headers,
      queryStringParameters: { part: '2', name: 'a,b', empty: '' },
      multiValueQueryStringParameters: { part: ['1', '2'], name: ['a,b'], empty: [''] },
      pathParameters: { read: 'a b' },
      body: 'e30=',
      isBase64Encoded: true,
      requestContext: {
        identity: {
          sourceIp: '192.0.2.1',
          userArn: 'arn:aws:sts::111122223333:assumed-role/edge-7/x',
          clientCert: { subjectDN: 'CN=edge-7' },
        },
      },
    });
  });

  it('may have neither a query nor a body', () => {
    const { rawQueryString: _query, body: _body, isBase64Encoded: _is, ...bare } = event;
    expect(toRestEvent(bare)).toMatchObject({
      queryStringParameters: {},
      body: null,
      isBase64Encoded: false,
    });
  });

  it('of a REST API stays as it is', () => {
    const rest = toRestEvent(event);
    expect(toRestEvent(rest)).toBe(rest);
  });
});
