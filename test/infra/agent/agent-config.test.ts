import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ConfigOverrides,
  parseAgentConfig,
  readAgentConfig,
} from '../../../infra/agent/agent-config.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';

const busdriver = { url: 'https://busdriver.example.com/', tokenFile: 'token' };
const edge = { name: 'edge', serviceAccount: true };

function parse(document: object, overrides?: ConfigOverrides) {
  return parseAgentConfig(
    { busdriver, kubernetes: { accounts: [edge] }, ...document },
    '/etc/agent',
    overrides,
  );
}

function toAccounts(account: object): object {
  return { kubernetes: { accounts: [{ ...edge, ...account }] } };
}

describe('the file of an agent', () => {
  it('names paths from its folder', () => {
    const own = { name: 'own', 'kube-config-file': 'kubeconfig', context: 'one' };
    const config = parse({
      busdriver: { ...busdriver, caFile: '/ca.crt', zone: 'eu' },
      kubernetes: { accounts: [edge, own] },
    });
    expect(config).toMatchObject({
      url: 'https://busdriver.example.com',
      proof: { kind: 'file', file: '/etc/agent/token' },
      tls: { caFile: '/ca.crt' },
      zone: 'eu',
      transport: 'auto',
      accounts: [
        { name: 'edge', serviceAccount: true, kubeConfigFile: undefined, context: undefined },
        { name: 'own', serviceAccount: false, kubeConfigFile: '/etc/agent/kubeconfig', context: 'one' },
      ],
      status: { host: undefined, healthPort: undefined, metricsPort: undefined, servesMetrics: true },
      log: { level: 'INFO', format: 'json' },
      keys: { unused: [], unknown: [] },
    });
  });

  it.each(['http://127.0.0.1:7002', 'http://localhost:7002', 'http://[::1]:7002', 'https://10.0.0.1/base'])(
    'may name %s',
    (url) => {
      expect(parse({ busdriver: { ...busdriver, url } }).url).toBe(url);
    },
  );

  it.each([
    [{ busdriver: { ...busdriver, url: 'grpcs://a.example:9091' } }, 'https://a.example:9091'],
    [{ busdriver: { ...busdriver, url: 'grpc://127.0.0.1:9091' } }, 'http://127.0.0.1:9091'],
    [{ busdriver: undefined, clouddriver: { grpc: 'a.example:9091' } }, 'https://a.example:9091'],
  ])('goes over gRPC with %j', (document, url) => {
    expect(parse(document as object)).toMatchObject({ transport: 'grpc', url });
  });

  it.each([
    ['a URL without TLS', { busdriver: { ...busdriver, url: 'http://10.0.0.1' } }, 'busdriver.url: expected'],
    [
      'a host that only begins like this one',
      { busdriver: { ...busdriver, url: 'http://127.0.0.1.example.com' } },
      'busdriver.url: expected',
    ],
    ['no URL', { busdriver: { tokenFile: 'x' } }, 'busdriver.url: expected a value, got none'],
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
    [
      'another transport than its URL has',
      { busdriver: { ...busdriver, url: 'grpcs://a.example:9091', transport: 'poll' } },
      'busdriver.transport: expected grpc, because of the URL',
    ],
    [
      'gRPC without TLS',
      { busdriver: { ...busdriver, url: 'grpc://10.0.0.1:9091' } },
      'busdriver.url: expected a URL',
    ],
    [
      'a transport that is none',
      { busdriver: { ...busdriver, transport: 'mqtt' } },
      'busdriver.transport: expected one of',
    ],
    ['a level that is none', { logging: { level: 'loud' } }, 'logging.level: expected one of panic, fatal'],
    ['a format that is none', { logging: { format: 'xml' } }, 'logging.format: expected one of json, text'],
    [
      'a multiplier below 1',
      { clouddriver: { backoff: { multiplier: 0.5 } } },
      'clouddriver.backoff.multiplier: expected 1 to 100',
    ],
    [
      'a jitter above 1',
      { clouddriver: { backoff: { jitter: 2 } } },
      'clouddriver.backoff.jitter: expected 0 to 1',
    ],
    [
      'pauses that shrink',
      { clouddriver: { backoff: { baseDelay: 2e9, maxDelay: 1e9 } } },
      'clouddriver.backoff.maxDelay: expected',
    ],
    [
      'TLS without a certificate',
      { server: { ssl: { enabled: true } } },
      'server.ssl.certFile: expected a value, got none',
    ],
    [
      'accounts by an API',
      { kubernetes: { accounts: [edge], dynamicAccountsOnly: true } },
      'kubernetes.dynamicAccountsOnly: expected false',
    ],
    [
      'permissions that are none',
      toAccounts({ permissions: 'all' }),
      'kubernetes.accounts[0].permissions: expected a map',
    ],
    [
      'an authorization that is none',
      toAccounts({ permissions: [{ RAED: ['a'] }] }),
      'kubernetes.accounts[0].permissions.RAED: expected one of',
    ],
    [
      'blank roles alone',
      toAccounts({ permissions: [{ READ: [' '] }] }),
      'kubernetes.accounts[0].permissions.READ: expected group names',
    ],
    [
      'a secret elsewhere',
      toAccounts({ kubeConfigFile: 'encryptedFile:vault!e:secret!p:kubernetes!k:config' }),
      'kubernetes.accounts[0].kubeConfigFile: refers to a secret elsewhere',
    ],
    [
      'more accounts than a session has',
      {
        kubernetes: { accounts: Array.from({ length: 501 }, (_, index) => ({ ...edge, name: `a${index}` })) },
      },
      'kubernetes.accounts: ',
    ],
    ['one name twice', { kubernetes: { accounts: [edge, edge] } }, 'kubernetes.accounts: two are named edge'],
  ])('is refused with %s', (_what, document, reason) => {
    expect(() => parse(document)).toThrow(reason);
  });

  it('has its place taken by the command line', () => {
    const url = 'https://other.example.com';
    expect(parse({}, { url }).url).toBe(url);
    expect(() => parse({}, { url: 'http://other.example.com' })).toThrow('--url: expected a URL');
  });

  it('is never quoted where it is no YAML', async () => {
    await using dir = await makeTempDir();
    const file = path.join(dir.path, 'busdriver-agent.yaml');
    await writeFile(file, 'clouddriver:\n  auth: { token: hunter2\n');
    const reading = readAgentConfig(file);
    await expect(reading).rejects.toThrow(/expected YAML; it cannot be read at line \d+/);
    await expect(reading).rejects.not.toThrow('hunter2');
  });
});

describe("the file of Armory's agent", () => {
  const file = path.resolve(import.meta.dirname, '../../fixtures/agent/armory-agent.yaml');

  it('is read unedited', async () => {
    const config = await readAgentConfig(file, { url: 'https://busdriver.example.com' });
    const folder = path.dirname(file);
    expect(config).toMatchObject({
      url: 'https://busdriver.example.com',
      proof: { kind: 'command', command: 'cat', args: ['token'], format: 'raw', refreshSeconds: 60 },
      zone: 'eu-west-1',
      keepAliveMs: 20_000,
      backOff: { firstMs: 100, mostMs: 2_000, growth: 1.6, fixedShare: 0.8 },
      status: { host: '127.0.0.1', healthPort: 0, healthTls: undefined, metricsPort: 0, servesMetrics: true },
      accounts: [
        {
          name: 'edge',
          kubeConfigFile: path.join(folder, 'kubeconfig'),
          permissions: { READ: ['readers', 'admins'], WRITE: ['admins'] },
          limits: {
            omitNamespaces: ['kube-system'],
            omitKinds: ['Event', 'PodMetrics.metrics.k8s.io'],
            onlyNamespacedResources: true,
            metrics: false,
          },
        },
      ],
    });
    expect(config.keys.unknown).toEqual([]);
    const unused = config.keys.unused.map((sentence) => sentence.split(':')[0]);
    const expected = ['pprof', 'tasks', 'logging.file', 'secrets.vault', 'kubernetes.cacheGroupKinds'];
    expect(unused).toEqual(expect.arrayContaining(expected));
  });

  it.each([
    ['a token as it stands', { auth: { token: ' abc ' } }, { proof: { kind: 'text', token: 'abc' } }],
    [
      'a program, before that',
      { auth: { token: 'abc', tokenCommand: { command: 'x' } } },
      { proof: { kind: 'command', format: 'json' } },
    ],
    [
      'a certificate of its own',
      { tls: { clientCertFile: 'c.pem' } },
      { proof: { kind: 'certificate' }, tls: { certFile: '/etc/agent/c.pem', keyFile: '/etc/agent/c.pem' } },
    ],
    [
      'its name and authority',
      { tls: { serverName: 'hub', cacertFile: 'ca' } },
      { tls: { serverName: 'hub', caFile: '/etc/agent/ca' } },
    ],
    [
      'a certificate that is not looked at',
      { tls: { insecureSkipVerify: true } },
      { tls: { skipsVerification: true } },
    ],
    ['no signs of life', { keepAliveHeartbeatSeconds: 0 }, { keepAliveMs: 0 }],
    ['no proxy', { noProxy: true }, { noProxy: true }],
    ['nothing', {}, { proof: { kind: 'file', file: '/var/run/secrets/busdriver/token' } }],
  ])('names %s', (_what, clouddriver, expected) => {
    expect(parse({ clouddriver, busdriver: { url: busdriver.url } })).toMatchObject(expected);
  });

  it.each<[string, { own: object; clouddriver?: object }, object]>([
    [
      'a role of IAM',
      { own: { auth: 'iam', region: 'eu-west-1', tokenFile: 't' } },
      { kind: 'iam', region: 'eu-west-1' },
    ],
    [
      'a certificate, beside a token',
      {
        own: { auth: 'certificate', tokenFile: 't' },
        clouddriver: { tls: { clientCertFile: 'c' } },
      },
      { kind: 'certificate' },
    ],
    [
      'a token, beside a certificate',
      { own: { auth: 'token' }, clouddriver: { tls: { clientCertFile: 'c' } } },
      { kind: 'file', file: '/var/run/secrets/busdriver/token' },
    ],
  ])('may say that %s proves who it is', (_what, { own, clouddriver = {} }, proof) => {
    expect(parse({ clouddriver, busdriver: { url: busdriver.url, ...own } }).proof).toEqual(proof);
  });

  it.each<[object, string]>([
    [{ auth: 'password' }, 'busdriver.auth: expected one of token, certificate, iam'],
    [{ auth: 'certificate' }, 'clouddriver.tls.clientCertFile: expected a value, got none'],
    [
      { auth: 'iam', transport: 'grpc' },
      'busdriver.auth: expected token or certificate: gRPC has no signatures of IAM',
    ],
  ])('is refused with %j', (own, reason) => {
    expect(() => parse({ busdriver: { url: busdriver.url, ...own } })).toThrow(reason);
  });

  it.each([
    [{ level: 'WARNING' }, { level: 'WARN', format: 'json' }],
    [
      { level: 'trace', format: 'TEXT' },
      { level: 'DEBUG', format: 'text' },
    ],
    [{ level: 'panic' }, { level: 'ERROR', format: 'json' }],
  ])('says how to log: %o', (logging, log) => {
    expect(parse({ logging }).log).toEqual(log);
  });
});
