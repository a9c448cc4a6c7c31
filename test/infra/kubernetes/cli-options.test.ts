import { expect, test } from 'vitest';
import { hostProgram, parseHostOptions } from '#infra/kubernetes/cli-options.ts';
import { formatHelp, UsageError } from '#infra/options.ts';

test("without options it binds all addresses at Clouddriver's port, and finds what Kubernetes gives a pod", () => {
  expect(parseHostOptions([])).toMatchObject({
    ...{ host: '::', port: 7002, allowedHosts: [], configFiles: [], profiles: ['local'], logLevel: 'INFO' },
    ...{
      namePrefix: 'busdriver-',
      createsResources: false,
      help: false,
      podName: expect.stringMatching(/./),
    },
    serviceAccountDirectory: '/var/run/secrets/kubernetes.io/serviceaccount',
    peerTokenFile: '/var/run/secrets/busdriver/peer-token',
  });
});

test('each option is taken', () => {
  const options = {
    ...{
      host: '0.0.0.0',
      port: '7003',
      'allow-host': 'clouddriver.example.com',
      config: '/etc',
      profiles: 'a, b',
      provider: '@acme/cloud',
    },
    ...{
      'log-level': 'warn',
      'name-prefix': 'busdriver-prod-',
      'pod-name': 'pod-1',
      'peer-address': '10.0.0.1:7002=127.0.0.1:1',
    },
    ...{
      'service-account-dir': '/run/account',
      'peer-token-file': '/run/token',
      'session-key-file': '/run/key',
    },
  };
  expect(parseHostOptions(['--create-resources']).createsResources).toBe(true);
  expect(formatHelp(hostProgram)).toContain('--create-resources ');
  expect(parseHostOptions(Object.entries(options).map(([name, value]) => `--${name}=${value}`))).toEqual({
    ...{ host: '0.0.0.0', port: 7003, allowedHosts: ['clouddriver.example.com'], configFiles: ['/etc'] },
    ...{
      profiles: ['a', 'b'],
      providers: ['@acme/cloud'],
      logLevel: 'WARN',
      namePrefix: 'busdriver-prod-',
      podName: 'pod-1',
      help: false,
      createsResources: false,
    },
    ...{ serviceAccountDirectory: '/run/account', peerTokenFile: '/run/token', sessionKeyFile: '/run/key' },
    peerAddresses: new Map([['10.0.0.1:7002', '127.0.0.1:1']]),
  });
  for (const name of Object.keys(options)) expect(formatHelp(hostProgram)).toContain(`--${name} `);
});

test.each([
  ['--port=70000', '--port must be a number from 0 to 65535'],
  ['--host=a b', '--host must be an address or a name'],
  ['--allow-host=/', '--allow-host must be an address or a name'],
  ['--config=/nowhere.yml', "--config: there is no file '/nowhere.yml'"],
  ['--log-level=loud', '--log-level must be debug, info, warn, error or silent'],
  ['--name-prefix=a/b', '--name-prefix must be at most 40 letters, digits, - and _'],
  ['--pod-name=', '--pod-name must be an address or a name'],
  ['--session-key-file=', '--session-key-file must name a file'],
  ['--peer-address=10.0.0.1', '--peer-address must be such as 10.0.15.246:7002=127.0.0.1:41234'],
  ['--profile=a', "Unknown option '--profile'"],
])('%s is refused', (argument, problem) => {
  expect(() => parseHostOptions([argument])).toThrow(UsageError);
  expect(() => parseHostOptions([argument])).toThrow(problem);
});
