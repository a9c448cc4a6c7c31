import { type ChannelCredentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { GrpcClient, type GrpcHost, hello, startGrpcHost } from './grpc-host.ts';
import { createTlsFiles, type TlsFiles } from './tls-files.ts';

const open = status.UNAUTHENTICATED;
const closed = status.UNAVAILABLE;

describe.each([
  { clientAuth: 'NONE', nothing: open, trusted: open, foreign: open, expired: open },
  { clientAuth: 'OPTIONAL', nothing: open, trusted: open, foreign: closed, expired: closed },
  { clientAuth: 'REQUIRE', nothing: closed, trusted: open, foreign: closed, expired: closed },
])('gRPC with clientAuth $clientAuth', ({ clientAuth, nothing, trusted, foreign, expired }) => {
  const stack = new AsyncDisposableStack();
  let tls: TlsFiles;
  let home: GrpcHost;
  beforeAll(async () => {
    tls = stack.use(await createTlsFiles());
    home = stack.use(await startGrpcHost({ security: { ...tls.security, clientAuth } }));
  });
  afterAll(() => stack.disposeAsync());

  /** The code of a call without a token: who got through the door is told that it lacks one. */
  async function knock(by: ChannelCredentials | undefined, message: object = hello): Promise<number> {
    using client = new GrpcClient(home.port, by === undefined ? {} : { credentials: by });
    return (await client.call('Sessions.Open', message, { deadlineMs: 10_000 })).code;
  }

  test('lets in who shows what it asks for', async () => {
    const stranger = new CertificateAuthority('clients');
    expect({
      nothing: await knock(tls.toCredentials()),
      trusted: await knock(tls.toCredentials({ commonName: 'edge' })),
      foreign: await knock(tls.toCredentials({ commonName: 'edge', by: stranger })),
      expired: await knock(tls.toCredentials({ commonName: 'edge', expired: true })),
    }).toEqual({ nothing, trusted, foreign, expired });
  });

  test('is not there for who speaks without TLS, nor for who trusts somebody else', async () => {
    const other = new CertificateAuthority('servers');
    expect(await knock(undefined)).toBe(closed);
    expect(await knock(tls.toCredentials({ commonName: 'edge', trusts: other }))).toBe(closed);
  });

  test('takes new files into use while it runs, and keeps the former ones for broken files', async () => {
    const next = new CertificateAuthority('servers, anew');
    const [before, after] = [tls.authority, next].map((trusts) =>
      tls.toCredentials({ commonName: 'edge', trusts }),
    );
    await tls.writeServer(next);
    await expect.poll(() => knock(after)).toBe(open);
    expect(await knock(before)).toBe(closed);
    await tls.writeServer({ issue: () => ({ certificate: 'none', key: 'none' }) } as never);
    // It looks each two seconds.
    const looked = performance.now() + 3_000;
    while (performance.now() < looked) expect(await knock(after)).toBe(open);
  });
});

describe('filters of subjects', () => {
  const stack = new AsyncDisposableStack();
  let tls: TlsFiles;
  let home: GrpcHost;
  beforeAll(async () => {
    tls = stack.use(await createTlsFiles());
    const filters = ['CN=edge-7', 'CN=edge-8,O=Elsewhere'];
    const security = { ...tls.security, clientAuth: 'OPTIONAL' };
    home = stack.use(await startGrpcHost({ security, filters }));
  });
  afterAll(() => stack.disposeAsync());

  test.each([
    ['edge-7', status.UNAUTHENTICATED],
    ['edge-77', status.PERMISSION_DENIED],
    ['CN=edge-7', status.PERMISSION_DENIED],
    ['edge-8', status.PERMISSION_DENIED],
    [undefined, status.PERMISSION_DENIED],
  ])('are compared part by part: CN=%s', async (commonName, code) => {
    using client = new GrpcClient(home.port, {
      credentials: tls.toCredentials(commonName === undefined ? {} : { commonName }),
    });
    const outcome = await client.call('Sessions.Open', hello);
    expect(outcome.code).toBe(code);
    if (code === status.PERMISSION_DENIED) expect(outcome.details).toContain('No filter lets in');
  });
});
