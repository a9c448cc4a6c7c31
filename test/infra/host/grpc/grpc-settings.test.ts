import { describe, expect, test } from 'vitest';
import { parseGrpcSettings } from '../../../../infra/host/grpc/grpc-settings.ts';

const parse = (grpc: object) => parseGrpcSettings({ kubesvc: { grpc } } as never);
const security = {
  ...{ enabled: true, certificateChain: 'file:/tls/tls.crt', privateKey: 'file:///tls/tls.key' },
};

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
    const found = parse({
      server: {
        security: { ...security, trustCertCollection, certificateRevocationList, clientAuth: 'REQUIRE' },
      },
    });
    expect(found?.security).toEqual({
      ...{ certificateChain: '/tls/tls.crt', privateKey: '/tls/tls.key' },
      ...{ trustCertCollection, certificateRevocationList: '/tls/ca.crl', clientAuth: 'require' },
    });
  });

  const trusting = { ...security, trustCertCollection: '/ca', clientAuth: 'optional' };
  test.each([
    [{ server: { enabled: 'perhaps' } }, 'kubesvc.grpc.server.enabled'],
    [{ server: { port: 70_000 } }, 'kubesvc.grpc.server.port'],
    [{ server: { address: 'a b' } }, 'kubesvc.grpc.server.address'],
    [{ server: { maxInboundMessageSize: '1MB' } }, 'kubesvc.grpc.server.maxInboundMessageSize'],
    [{ server: { maxInboundMessageSize: '1GB' } }, 'kubesvc.grpc.server.maxInboundMessageSize'],
    [{ server: { security: { enabled: true } } }, 'kubesvc.grpc.server.security.certificateChain'],
    [{ server: { security: { ...security, privateKey: '' } } }, 'kubesvc.grpc.server.security.privateKey'],
    [
      { server: { security: { ...security, privateKey: 'classpath:key' } } },
      'kubesvc.grpc.server.security.privateKey',
    ],
    [
      { server: { security: { ...security, clientAuth: 'REQUIRE' } } },
      'kubesvc.grpc.server.security.trustCertCollection',
    ],
    [
      { server: { security: { ...security, certificateRevocationList: '/tls/ca.crl' } } },
      'kubesvc.grpc.server.security.certificateRevocationList',
    ],
    [
      { server: { security: { ...security, clientAuth: 'maybe' } } },
      'kubesvc.grpc.server.security.clientAuth',
    ],
    [{ auth: { x509: { enabled: true, filters: ['CN=a'] } } }, 'kubesvc.grpc.auth.x509.enabled'],
    [{ server: { security: trusting }, auth: { x509: { enabled: true } } }, 'kubesvc.grpc.auth.x509.filters'],
    [
      { server: { security: trusting }, auth: { x509: { enabled: true, filters: ['CN=a', 'edge'] } } },
      'kubesvc.grpc.auth.x509.filters[1]',
    ],
  ])('%j is refused by name', (grpc, path) => {
    expect(() => parse(grpc)).toThrow(path);
  });
});
