import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConfigOverrides } from '#infra/agent/config/agent-config.ts';
import { parseAgentConfig, readAgentConfig } from '#infra/agent/config/agent-config.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const busdriver = { url: 'https://busdriver.example.com/', tokenFile: 'token' };
const edge = { name: 'edge', serviceAccount: true };

function parse(document: object, overrides?: ConfigOverrides) {
  return parseAgentConfig(
    { busdriver, kubernetes: { accounts: [edge] }, ...document },
    '/etc/agent',
    overrides,
  );
}

function at(url: string, others = {}): object {
  return { busdriver: { ...busdriver, url, ...others } };
}

describe('the file of an agent', () => {
  const many = Array.from({ length: 501 }, (_, index) => ({ ...edge, name: `a${index}` }));
  const backOff = (backoff: object) => ({ clouddriver: { backoff } });
  const { url } = busdriver;
  const [pauses, ssl] = ['clouddriver.backoff', { enabled: true }];
  const byApi = { accounts: [edge], dynamicAccountsOnly: true };
  const vault = 'encryptedFile:vault!e:secret!p:kubernetes!k:config';
  const permit = (permission: object) => ({ ...edge, permissions: [permission] });

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

  const urls = [
    'http://127.0.0.1:7002',
    'http://localhost:7002',
    'http://[::1]:7002',
    'https://10.0.0.1/base',
  ];
  it.each(urls)('may name %s', (url) => {
    expect(parse(at(url)).url).toBe(url);
  });

  it.each([
    [at('grpcs://a.example:9091'), 'https://a.example:9091'],
    [at('grpc://127.0.0.1:9091'), 'http://127.0.0.1:9091'],
    [{ busdriver: undefined, clouddriver: { grpc: 'a.example:9091' } }, 'https://a.example:9091'],
  ])('goes over gRPC with %j', (document, url) => {
    expect(parse(document as object)).toMatchObject({ transport: 'grpc', url });
  });

  it.each([
    ['a URL without TLS', at('http://10.0.0.1'), 'busdriver.url: expected'],
    ['a host that only begins like this one', at('http://127.0.0.1.example.com'), 'busdriver.url: expected'],
    ['no URL', { busdriver: { tokenFile: 'x' } }, 'busdriver.url: expected a value, got none'],
    ['no accounts', { kubernetes: { accounts: [] } }, 'kubernetes.accounts: expected an account, got none'],
    [
      'a port that is none',
      { server: { port: 7e4 } },
      'server.port: expected a whole number from 0 to 65535',
    ],
    [
      'another transport than its URL has',
      at('grpcs://a.example:9091', { transport: 'poll' }),
      'busdriver.transport: expected grpc, because of the URL',
    ],
    ['gRPC without TLS', at('grpc://10.0.0.1:9091'), 'busdriver.url: expected a URL'],
    ['a transport that is none', at(url, { transport: 'mqtt' }), 'busdriver.transport: expected one of'],
    ['a level that is none', { logging: { level: 'loud' } }, 'logging.level: expected one of panic, fatal'],
    ['a format that is none', { logging: { format: 'xml' } }, 'logging.format: expected one of json, text'],
    ['a multiplier below 1', backOff({ multiplier: 0.5 }), `${pauses}.multiplier: expected 1 to 100`],
    ['a jitter above 1', backOff({ jitter: 2 }), `${pauses}.jitter: expected 0 to 1`],
    ['pauses that shrink', backOff({ baseDelay: 2e9, maxDelay: 1e9 }), `${pauses}.maxDelay: expected`],
    ['TLS without a certificate', { server: { ssl } }, 'server.ssl.certFile: expected a value, got none'],
    ['accounts by an API', { kubernetes: byApi }, 'kubernetes.dynamicAccountsOnly: expected false'],
    ['more accounts than a session has', { kubernetes: { accounts: many } }, 'kubernetes.accounts: '],
    ['one name twice', { kubernetes: { accounts: [edge, edge] } }, 'kubernetes.accounts: two are named edge'],
  ])('is refused with %s', (_what, document, reason) => {
    expect(() => parse(document)).toThrow(reason);
  });

  it.each([
    ['no way to a cluster', { name: 'a' }, ': expected either kubeConfigFile or serviceAccount: true'],
    ['two ways', { ...edge, kubeConfigFile: 'x' }, ': expected either'],
    ['permissions that are none', { ...edge, permissions: 'all' }, '.permissions: expected a map'],
    ['an authorization that is none', permit({ RAED: ['a'] }), '.permissions.RAED: expected one of'],
    ['blank roles alone', permit({ READ: [' '] }), '.permissions.READ: expected group names'],
    [
      'a secret elsewhere',
      { ...edge, kubeConfigFile: vault },
      '.kubeConfigFile: refers to a secret elsewhere',
    ],
  ])('is refused with an account that has %s', (_what, account, reason) => {
    expect(() => parse({ kubernetes: { accounts: [account] } })).toThrow(`kubernetes.accounts[0]${reason}`);
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
  const armory = path.resolve(import.meta.dirname, '../../../fixtures/agent/armory-agent.yaml');

  it('is read unedited', async () => {
    const config = await readAgentConfig(armory, { url: 'https://busdriver.example.com' });
    const folder = path.dirname(armory);
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

  const tokenCommand = { command: 'x' };
  const certificate = { kind: 'certificate' };
  const program = { kind: 'command', format: 'json' };
  const own = { certFile: '/etc/agent/c.pem', keyFile: '/etc/agent/c.pem' };
  const hub = { serverName: 'hub', caFile: '/etc/agent/ca' };
  const unverified = { skipsVerification: true };
  it.each([
    ['a token as it stands', { auth: { token: ' abc ' } }, { proof: { kind: 'text', token: 'abc' } }],
    ['a program, before that', { auth: { token: 'abc', tokenCommand } }, { proof: program }],
    ['a certificate of its own', { tls: { clientCertFile: 'c.pem' } }, { proof: certificate, tls: own }],
    ['its name and authority', { tls: { serverName: 'hub', cacertFile: 'ca' } }, { tls: hub }],
    ['a certificate that is not looked at', { tls: { insecureSkipVerify: true } }, { tls: unverified }],
    ['no signs of life', { keepAliveHeartbeatSeconds: 0 }, { keepAliveMs: 0 }],
    ['no proxy', { noProxy: true }, { noProxy: true }],
    ['nothing', {}, { proof: { kind: 'file', file: '/var/run/secrets/busdriver/token' } }],
  ])('names %s', (_what, clouddriver, expected) => {
    expect(parse({ clouddriver, busdriver: { url: busdriver.url } })).toMatchObject(expected);
  });

  const iam = { kind: 'iam', region: 'eu-west-1' };
  const file = { kind: 'file', file: '/var/run/secrets/busdriver/token' };
  const certified = { tls: { clientCertFile: 'c' } };
  it.each<[string, object, object, object]>([
    ['a role of IAM', { auth: 'iam', region: 'eu-west-1', tokenFile: 't' }, {}, iam],
    ['a certificate, beside a token', { auth: 'certificate', tokenFile: 't' }, certified, certificate],
    ['a token, beside a certificate', { auth: 'token' }, certified, file],
  ])('may say that %s proves who it is', (...[, named, clouddriver, proof]) => {
    expect(parse({ clouddriver, busdriver: { url: busdriver.url, ...named } }).proof).toEqual(proof);
  });

  it.each<[object, string]>([
    [{ auth: 'password' }, 'busdriver.auth: expected one of token, certificate, iam'],
    [{ auth: 'certificate' }, 'clouddriver.tls.clientCertFile: expected a value, got none'],
    [
      { auth: 'iam', transport: 'grpc' },
      'busdriver.auth: expected token or certificate: gRPC has no signatures',
    ],
  ])('is refused with %j', (named, reason) => {
    expect(() => parse({ busdriver: { url: busdriver.url, ...named } })).toThrow(reason);
  });

  it.each([
    [{ level: 'WARNING' }, 'WARN', 'json'],
    [{ level: 'trace', format: 'TEXT' }, 'DEBUG', 'text'],
    [{ level: 'panic' }, 'ERROR', 'json'],
  ])('says how to log: %o', (logging, level, format) => {
    expect(parse({ logging }).log).toEqual({ level, format });
  });
});
