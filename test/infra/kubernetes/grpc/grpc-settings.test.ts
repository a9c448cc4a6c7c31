import { describe, expect, test } from 'vitest';
import { parseGrpcSettings } from '#infra/kubernetes/grpc/grpc-settings.ts';

const parse = (grpc: object) => parseGrpcSettings({ kubesvc: { grpc } } as never);
const security = { enabled: true, certificateChain: 'file:/tls/tls.crt', privateKey: 'file:///tls/tls.key' };
const secured = (more: object) => ({ server: { security: { ...security, ...more } } });

describe('the settings of gRPC', () => {
  test('are by default those of the plug-in', () => {
    expect(parseGrpcSettings({})).toEqual({
      ...{ address: '::', port: 9091, maxInboundBytes: 4_194_304 },
      ...{ security: undefined, subjectFilters: undefined },
    });
    expect(parse({ server: { enabled: false } })).toBeUndefined();
  });

  test.each([
    ['4MB', 4 << 20],
    ['2048KB', 2 << 20],
    ['4194304B', 4 << 20],
    [4_194_304, 4 << 20],
    ['16mb', 16 << 20],
  ])('take a size of messages as Spring does: %s', (maxInboundMessageSize, bytes) => {
    expect(parse({ server: { maxInboundMessageSize } })?.maxInboundBytes).toBe(bytes);
  });

  test('name files as Spring does, and take clientAuth in any case', () => {
    const trustCertCollection = '/tls/ca.crt';
    const certificateRevocationList = 'file:/tls/ca.crl';
    const found = parse(secured({ trustCertCollection, certificateRevocationList, clientAuth: 'REQUIRE' }));
    expect(found?.security).toEqual({
      ...{ certificateChain: '/tls/tls.crt', privateKey: '/tls/tls.key' },
      ...{ trustCertCollection, certificateRevocationList: '/tls/ca.crl', clientAuth: 'require' },
    });
  });

  const trusting = { ...security, trustCertCollection: '/ca', clientAuth: 'optional' };
  const server = { security: trusting };
  test.each([
    [{ server: { enabled: 'perhaps' } }, 'server.enabled'],
    [{ server: { port: 70_000 } }, 'server.port'],
    [{ server: { address: 'a b' } }, 'server.address'],
    [{ server: { maxInboundMessageSize: '1MB' } }, 'server.maxInboundMessageSize'],
    [{ server: { maxInboundMessageSize: '1GB' } }, 'server.maxInboundMessageSize'],
    [{ server: { security: { enabled: true } } }, 'server.security.certificateChain'],
    [secured({ privateKey: '' }), 'server.security.privateKey'],
    [secured({ privateKey: 'classpath:key' }), 'server.security.privateKey'],
    [secured({ clientAuth: 'REQUIRE' }), 'server.security.trustCertCollection'],
    [secured({ certificateRevocationList: '/tls/ca.crl' }), 'server.security.certificateRevocationList'],
    [secured({ clientAuth: 'maybe' }), 'server.security.clientAuth'],
    [{ auth: { x509: { enabled: true, filters: ['CN=a'] } } }, 'auth.x509.enabled'],
    [{ server, auth: { x509: { enabled: true } } }, 'auth.x509.filters'],
    [{ server, auth: { x509: { enabled: true, filters: ['CN=a', 'edge'] } } }, 'auth.x509.filters[1]'],
  ])('%j is refused by name', (grpc, path) => {
    expect(() => parse(grpc)).toThrow(`kubesvc.grpc.${path}`);
  });
});
