import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { revokeAgents } from '#agents/agent-enrolment.ts';
import { toRestEvent } from '#agents/http/http-api-event.ts';
import { openAgentEnrolments } from '#agents/services/agent-enrolments.ts';
import { handler as openIamSession } from '#functions/agents/open-iam-session.ts';
import { handler as openSession } from '#functions/agents/open-session.ts';
import type { CertificateSubject } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { type AgentFunctions, openAgentFunctions } from '#test/support/agents/agent-functions.ts';
import type { TokenSigner } from '#test/support/agents/agent-process.ts';
import { createTokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';

const authority = new CertificateAuthority('clients');
/** As many accounts as an agent may have. */
const many = Array.from({ length: 500 }, (_, index) => `many-${index}`);
const roleArns = ['arn:aws:iam::111122223333:role/agents/edge-9'];
let signer: TokenSigner;
let functions: AgentFunctions;

beforeAll(async () => {
  signer = await createTokenSigner();
  functions = await openAgentFunctions([
    toAgentAccount('by-token', signer),
    toAgentAccount('revoked', signer),
    { name: 'by-certificate', agent: { auth: { type: 'certificate', subjects: ['CN=edge-7,O=Acme'] } } },
    { name: 'by-role', agent: { auth: { type: 'iam', roleArns } } },
    ...many.map((name) => toAgentAccount(name, signer)),
  ]);
});
afterAll(() => functions[Symbol.asyncDispose]());

interface Shown {
  readonly certificate?: CertificateSubject;
  readonly token?: string;
  readonly userArn?: string;
  /** The accounts that are named. Default: the first three. */
  readonly names?: readonly string[];
}

/** An event as API Gateway's documentation has it for HTTP APIs, payload 2.0. */
function toEvent(
  path: string,
  { certificate, token, userArn, names = ['by-token', 'by-certificate', 'by-role'] }: Shown,
) {
  const hello = {
    ...{ agentId: 'pod-1', version: '1', protocol: 1, journalFormat: 1 },
    accounts: names.map((name) => ({ name })),
  };
  return {
    ...{ version: '2.0' as const, routeKey: `POST ${path}`, rawPath: path, rawQueryString: '' },
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(hello),
    isBase64Encoded: false,
    requestContext: {
      ...{ accountId: '111122223333', apiId: 'a1b2c3d4e5', requestId: 'id', stage: '$default' },
      routeKey: `POST ${path}`,
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'agent' },
      ...(certificate && {
        authentication: {
          clientCert: {
            clientCertPem: authority.issue(certificate).certificate,
            // What stands here differs from place to place.
            ...{ subjectDN: 'CN=somebody', issuerDN: 'CN=clients', serialNumber: '01' },
            validity: { notBefore: 'May 28 12:30:02 2019 GMT', notAfter: 'Aug 5 09:36:04 2031 GMT' },
          },
        },
      }),
      ...(userArn && {
        authorizer: {
          iam: {
            ...{ accessKey: 'ASIAIOSFODNN7EXAMPLE', accountId: '111122223333', callerId: 'AROA:x' },
            ...{ cognitoIdentity: null, principalOrgId: 'o-1', userArn, userId: 'AROA:x' },
          },
        },
      }),
    },
  };
}

interface Outcome {
  readonly status: number;
  readonly message: unknown;
  /** Accounts that are granted. */
  readonly granted: readonly string[];
}

async function open(shown: Shown, path = '/agent/v1/sessions', isRest = false): Promise<Outcome> {
  const handler = path === '/agent/v1/sessions' ? openSession : openIamSession;
  const event = toEvent(path, shown);
  const given = isRest ? toRestEvent(event) : event;
  // It answers at once where answers are not streamed.
  const run = handler.withServices(functions.services) as (...args: object[]) => Promise<unknown>;
  const answer = await run(given, { functionName: 'open-session', awsRequestId: 'id' });
  const { statusCode, body } = answer as { statusCode: number; body: string };
  const { message, accounts = [] } = JSON.parse(body) as {
    message?: string;
    accounts?: readonly { readonly name: string; readonly operations: boolean }[];
  };
  const granted = accounts.filter(({ operations }) => operations).map(({ name }) => name);
  return { status: statusCode, message, granted };
}

const noCertificate = {
  ...{ status: 401, granted: [] },
  message: 'The certificate proves the agent of none of these accounts',
};
const acme = { commonName: 'edge-7', parts: [{ CN: 'edge-7' }, { O: 'Acme' }] };

describe('a certificate', () => {
  it.each([false, true])('opens a session, in an event of a REST API: %s', async (isRest) => {
    const opened = await open({ certificate: acme }, undefined, isRest);
    expect(opened).toMatchObject({ status: 200, granted: ['by-certificate'] });
  });

  it('counts beside a token', async () => {
    const token = await signer.sign();
    const granted = ['by-token', 'by-certificate'];
    expect(await open({ certificate: acme, token })).toMatchObject({ granted });
    expect(await open({ token })).toMatchObject({ granted: ['by-token'] });
  });

  it.each<[string, CertificateSubject]>([
    ['another subject', { commonName: '', parts: [{ CN: 'edge-8' }, { O: 'Acme' }] }],
    ['another order', { commonName: '', parts: [{ O: 'Acme' }, { CN: 'edge-7' }] }],
    ['one part in the place of two', { commonName: '', parts: [{ CN: 'edge-7', O: 'Acme' }] }],
    ['a name that reads as two', { commonName: 'edge-7,O=Acme' }],
    ['a line that reads as a part', { commonName: '', parts: [{ CN: 'edge-7\nO=Acme' }] }],
    ['more', { commonName: '', parts: [{ CN: 'edge-7' }, { O: 'Acme' }, { C: 'DE' }] }],
    ['its end in the past', { ...acme, expired: true }],
  ])('with %s opens none', async (_what, certificate) => {
    expect(await open({ certificate })).toEqual(noCertificate);
  });

  it('is asked for by an account that wants one, and a token is missed where there is nothing', async () => {
    const message = 'Expected a header Authorization: Bearer with a token';
    expect(await open({})).toMatchObject({ status: 401, message });
  });
});

describe('a token', () => {
  it('is verified once for all accounts of its cluster', async () => {
    using verify = vi.spyOn(crypto.subtle, 'verify');
    const { granted } = await open({ token: await signer.sign(), names: many });
    expect([granted.length, verify.mock.calls.length]).toEqual([500, 1]);
    const stranger = await createTokenSigner();
    const refused = await open({ token: await stranger.sign(), names: many });
    expect([refused.status, verify.mock.calls.length]).toEqual([401, 2]);
  });
});

describe('a role', () => {
  const iam = '/agent/v1/iam-sessions';
  const role = 'arn:aws:sts::111122223333:assumed-role/edge-9';

  it('opens a session where API Gateway has checked who signed', async () => {
    const opened = await open({ userArn: `${role}/eks-busdriver-agent-1` }, iam);
    expect(opened).toMatchObject({ status: 200, granted: ['by-role'] });
  });

  it.each([
    ['arn:aws:sts::111122223333:assumed-role/edge-8/session'],
    ['arn:aws:sts::999922223333:assumed-role/edge-9/session'],
    ['arn:aws:iam::111122223333:user/edge-9'],
    ['arn:aws:iam::111122223333:root'],
  ])('%s opens none', async (userArn) => {
    const message = 'The role proves the agent of none of these accounts';
    expect(await open({ userArn }, iam)).toEqual({ status: 401, granted: [], message });
  });

  it('is not believed where nobody has looked', async () => {
    const message = expect.stringContaining('Nobody has checked a signature of IAM here');
    const token = await signer.sign();
    expect(await open({ token, certificate: acme }, iam)).toMatchObject({ status: 401, message });
    expect(await open({ userArn: `${role}/session` })).toMatchObject({ status: 401 });
  });
});

it('an account that is revoked while its agent opens a session has no session', async () => {
  const enrolments = openAgentEnrolments(functions.services);
  let isRevoked = false;
  functions.tables.middlewareStack.add((next) => async (args) => {
    const { Item: item } = args.input as { Item?: { readonly pk?: { readonly S?: string } } };
    if (item?.pk?.S?.startsWith('SESSION#') && !isRevoked) {
      isRevoked = true;
      await enrolments.change('revoked', (before) => revokeAgents(before, { atMs: 0 }));
    }
    return next(args);
  });
  expect(await open({ token: await signer.sign(), names: ['revoked'] })).toMatchObject({
    status: 401,
    message: 'The session is over: open another one',
  });
});
