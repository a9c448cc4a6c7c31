import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCliOptions, startProgram } from '#infra/local/cli-options.ts';
import { formatHelp, UsageError } from '#infra/options.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

describe('the command line', () => {
  test('may be empty', () => {
    expect(parseCliOptions([], { KUBECONFIG: '/some/where' })).toMatchObject({
      host: '127.0.0.1',
      port: 7002,
      dataDir: path.resolve('.busdriver'),
      configFiles: [],
      profiles: ['local'],
      providers: [],
      kubeconfig: '/some/where',
      allowedHosts: [],
      localManagers: 'on',
      logLevel: 'INFO',
      json: false,
      help: false,
    });
  });

  test('takes every option of the help', async () => {
    await using temp = await makeTempDir();
    const file = path.join(temp.path, 'clouddriver.yml');
    await writeFile(file, '');
    const args = [
      '--port=0',
      '--host',
      '0.0.0.0',
      '--allow-host',
      'a',
      '--allow-host',
      'b',
      '--data-dir',
      temp.path,
      '--local-managers',
      'off',
    ];
    const tls = ['--tls-cert', file, '--tls-key', file, '--tls-client-ca', file];
    const access = ['--token-file', file, ...tls];
    const more = [
      ...access,
      '--config',
      file,
      '--config',
      temp.path,
      '--metrics-port=7008',
      '--profiles',
      'x, y',
      '--provider',
      '@acme/cloud',
      '--provider',
      'other',
      '--kubeconfig',
      file,
    ];
    const options = parseCliOptions([...args, ...more, '--log-level', 'debug', '--json', '--help'], {});
    expect(options).toEqual({
      host: '0.0.0.0',
      port: 0,
      dataDir: temp.path,
      configFiles: [file, temp.path],
      profiles: ['x', 'y'],
      providers: ['@acme/cloud', 'other'],
      kubeconfig: file,
      allowedHosts: ['a', 'b'],
      localManagers: 'off',
      tokenFile: file,
      tlsCert: file,
      tlsKey: file,
      tlsClientCa: file,
      metricsPort: 7008,
      logLevel: 'DEBUG',
      json: true,
      help: true,
    });
    for (const name of [...args, ...more].filter((arg) => arg.startsWith('--'))) {
      expect(formatHelp(startProgram)).toContain(name.replace(/=.*/, ''));
    }
  });

  test("falls back to the user's kubeconfig where there is one", async () => {
    await using temp = await makeTempDir();
    expect(parseCliOptions([], { HOME: temp.path }).kubeconfig).toBeUndefined();
    await mkdir(path.join(temp.path, '.kube'));
    const file = path.join(temp.path, '.kube', 'config');
    await writeFile(file, '');
    expect(parseCliOptions([], { HOME: temp.path }).kubeconfig).toBe(file);
  });

  test.each([
    [['--prot', '1'], "Unknown option '--prot': did you mean --port?"],
    [['--datadir', 'x'], "Unknown option '--datadir': did you mean --data-dir?"],
    [['--kube', 'x'], "Unknown option '--kube': did you mean --kubeconfig?"],
    [['--nonsense'], "Unknown option '--nonsense'"],
    [['-p', '1'], "Unknown option '-p'"],
    [['start'], "'start' is no option"],
    [['--port', 'x'], "--port must be a number from 0 to 65535, not 'x'"],
    [['--port', '65536'], "--port must be a number from 0 to 65535, not '65536'"],
    [['--port'], '--port: expected a value'],
    [['--metrics-port', 'x'], '--metrics-port must be a number from 0 to 65535'],
    [['--data-dir', '--json'], '--data-dir: expected a value'],
    [['--json=yes'], '--json takes no value'],
    [['--tokn-file=secret'], "Unknown option '--tokn-file': did you mean --token-file?"],
    [['--host', 'a b'], "--host must be an address or a name, such as 127.0.0.1, not 'a b'"],
    [['--log-level', 'loud'], "--log-level must be debug, info, warn, error or silent, not 'loud'"],
    [['--config', '/does/not/exist'], "--config: there is no file '/does/not/exist'"],
    [['--kubeconfig', '/does/not/exist'], "--kubeconfig: there is no file '/does/not/exist'"],
    [['--profiles', 'a,,b'], "--profiles must be names with commas between, such as local,test: '' is none"],
    [['--data-dir', ''], '--data-dir must name a folder'],
    [['--token-file', '/does/not/exist'], "--token-file: there is no file '/does/not/exist'"],
    [['--tls-cert', '/dev/null'], '--tls-cert and --tls-key go together'],
    [['--tls-key', '/dev/null'], '--tls-cert and --tls-key go together'],
    [['--tls-client-ca', '/dev/null'], '--tls-client-ca needs --tls-cert and --tls-key'],
    [['--local-managers', 'no'], "--local-managers must be on or off, not 'no'"],
    [['--allow-host', ''], '--allow-host must be an address or a name'],
  ])('%j is refused: %s', (args, message) => {
    const parse = () => parseCliOptions(args, {});
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});
