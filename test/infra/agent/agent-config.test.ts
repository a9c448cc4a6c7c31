import { describe, expect, it } from 'vitest';
import { parseAgentConfig } from '../../../infra/agent/agent-config.ts';

const busdriver = { url: 'https://busdriver.example.com/', tokenFile: 'token' };
const edge = { name: 'edge', serviceAccount: true };

function parse(document: { busdriver?: object; kubernetes?: object; server?: object }) {
  return parseAgentConfig({ busdriver, kubernetes: { accounts: [edge] }, ...document }, '/etc/agent');
}

describe('the file of an agent', () => {
  it('names paths from its folder', () => {
    const own = { name: 'own', 'kube-config-file': 'kubeconfig', context: 'one' };
    const config = parse({
      busdriver: { ...busdriver, caFile: '/ca.crt', zone: 'eu' },
      kubernetes: { accounts: [edge, own] },
    });
    expect(config).toEqual({
      url: 'https://busdriver.example.com',
      tokenFile: '/etc/agent/token',
      caFile: '/ca.crt',
      zone: 'eu',
      accounts: [
        { name: 'edge', serviceAccount: true, kubeConfigFile: undefined, context: undefined },
        { name: 'own', serviceAccount: false, kubeConfigFile: '/etc/agent/kubeconfig', context: 'one' },
      ],
      status: { host: undefined, healthPort: undefined, metricsPort: undefined, servesMetrics: true },
    });
  });

  it.each(['http://127.0.0.1:7002', 'http://localhost:7002', 'http://[::1]:7002', 'https://10.0.0.1/base'])(
    'may name %s',
    (url) => {
      expect(parse({ busdriver: { ...busdriver, url } }).url).toBe(url);
    },
  );

  it.each([
    ['a URL without TLS', { busdriver: { ...busdriver, url: 'http://10.0.0.1' } }, 'busdriver.url: expected'],
    [
      'a host that only begins like this one',
      { busdriver: { ...busdriver, url: 'http://127.0.0.1.example.com' } },
      'busdriver.url: expected',
    ],
    ['no URL', { busdriver: { tokenFile: 'x' } }, 'busdriver.url: expected a value, got none'],
    ['no token', { busdriver: { url: busdriver.url } }, 'busdriver.tokenFile: expected a value, got none'],
    ['no accounts', { kubernetes: { accounts: [] } }, 'kubernetes.accounts: expected an account, got none'],
    [
      'no way to a cluster',
      { kubernetes: { accounts: [{ name: 'a' }] } },
      'kubernetes.accounts[0]: expected either kubeConfigFile or serviceAccount: true',
    ],
    [
      'two ways',
      { kubernetes: { accounts: [{ ...edge, kubeConfigFile: 'x' }] } },
      'kubernetes.accounts[0]: expected either',
    ],
    [
      'a port that is none',
      { server: { port: 70_000 } },
      'server.port: expected a whole number from 0 to 65535',
    ],
    ['one name twice', { kubernetes: { accounts: [edge, edge] } }, 'kubernetes.accounts: two are named edge'],
  ])('is refused with %s', (_what, document, reason) => {
    expect(() => parse(document)).toThrow(reason);
  });
});
