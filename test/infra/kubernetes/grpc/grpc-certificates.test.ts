import { type ChannelCredentials, credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CertificateSubject } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { GrpcClient, type GrpcHost, startGrpcHost } from './grpc-host.ts';
import { createTlsFiles, type TlsFiles } from './tls-files.ts';

const stack = new AsyncDisposableStack();
let tls: TlsFiles;
let home: GrpcHost;

beforeAll(async () => {
  tls = stack.use(await createTlsFiles());
  const auth = { type: 'certificate', subjects: ['CN=edge-7,O=Acme', 'OU=b+CN=edge-9'] };
  const accounts = [{ name: 'by-certificate', agent: { auth } }];
  const security = { ...tls.security, clientAuth: 'OPTIONAL' };
  home = stack.use(await startGrpcHost({ security, accounts }));
});
afterAll(() => stack.disposeAsync());

const hello = {
  ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
  accounts: [{ name: 'by-certificate' }, { name: 'edge' }],
};
const acme: CertificateSubject = { commonName: '', parts: [{ CN: 'edge-7' }, { O: 'Acme' }] };

function show(subject: CertificateSubject, by: CertificateAuthority = tls.clients): ChannelCredentials {
  const { certificate, key } = by.issue(subject);
  return credentials.createSsl(
    Buffer.from(tls.authority.certificate),
    Buffer.from(key),
    Buffer.from(certificate),
  );
}

async function open(by: ChannelCredentials, token = '') {
  using client = new GrpcClient(home.port, { credentials: by });
  const { code, answer, details } = await client.call('Sessions.Open', hello, { token });
  const accounts = (answer['accounts'] ?? []) as unknown as readonly { name: string; operations: boolean }[];
  return { code, details, granted: accounts.filter((each) => each.operations).map(({ name }) => name) };
}

test('an agent with the certificate of its account has a session, and with a token those of both', async () => {
  expect(await open(show(acme))).toMatchObject({ code: 0, granted: ['by-certificate'] });
  expect(await open(show({ commonName: '', parts: [{ CN: 'edge-9', OU: 'b' }] }))).toMatchObject({ code: 0 });
  expect(await open(show(acme), await home.signer.sign())).toMatchObject({
    granted: ['by-certificate', 'edge'],
  });
});

test.each<[string, CertificateSubject]>([
  ['another subject', { commonName: '', parts: [{ CN: 'edge-8' }, { O: 'Acme' }] }],
  ['another order', { commonName: '', parts: [{ O: 'Acme' }, { CN: 'edge-7' }] }],
  ['a name that reads as two', { commonName: 'edge-7,O=Acme' }],
  ['half of it', { commonName: 'edge-7' }],
])('one with %s has none', async (_what, subject) => {
  expect(await open(show(subject))).toMatchObject({
    code: status.UNAUTHENTICATED,
    details: expect.stringContaining('The certificate proves the agent of none of these accounts'),
  });
});

test('one whose certificate nobody trusts, or that is over, does not get through the door', async () => {
  const stranger = new CertificateAuthority('clients');
  expect(await open(show(acme, stranger))).toMatchObject({ code: status.UNAVAILABLE });
  expect(await open(show({ ...acme, expired: true }))).toMatchObject({ code: status.UNAVAILABLE });
});

test('one without a certificate is asked for a token', async () => {
  const nothing = credentials.createSsl(Buffer.from(tls.authority.certificate));
  expect(await open(nothing)).toMatchObject({ code: status.UNAUTHENTICATED });
  expect(await open(nothing, await home.signer.sign())).toMatchObject({ code: 0, granted: ['edge'] });
});
