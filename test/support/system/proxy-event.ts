import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Headers as they come, in order; a name may come several times. */
export type RawHeaders = readonly (readonly [name: string, value: string])[];

/** The event of a GET with these headers, and with a client certificate of this subject, as API Gateway makes it. */
export function createProxyEvent(headers: RawHeaders, subjectDN?: string): APIGatewayProxyEvent {
  const many = new Map<string, string[]>();
  for (const [name, value] of headers) many.set(name, [...(many.get(name) ?? []), value]);
  const clientCert =
    subjectDN === undefined ? null : { subjectDN, issuerDN: 'CN=Example CA', serialNumber: '1' };
  return {
    httpMethod: 'GET',
    path: '/credentials',
    headers: Object.fromEntries(headers),
    multiValueHeaders: Object.fromEntries(many),
    requestContext: { identity: { sourceIp: '127.0.0.1', clientCert } },
  } as unknown as APIGatewayProxyEvent;
}
