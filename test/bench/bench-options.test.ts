import { describe, expect, it, test } from 'vitest';
import { benchHelp, parseBenchOptions } from './bench-options.ts';

describe('the options of the bench', () => {
  it('are both modes and all parts, on a control plane of its own, unless something is told', () => {
    expect(parseBenchOptions([])).toEqual({
      help: false,
      samples: 60,
      starts: 5,
      modes: ['interval', 'stream'],
      peers: [],
      only: ['starts', 'deploys', 'load', 'reads', 'fill'],
      write: false,
      json: false,
    });
  });

  it('have peers with what is known of them', () => {
    const peers = ['--peer', 'one=http://127.0.0.1:7002/', '--peer', 'two=http://127.0.0.1:7003/clouddriver'];
    const facts = ['--peer-pid', 'two=42', '--peer-account=one=dev'];
    expect(parseBenchOptions([...peers, ...facts, '--cluster', 'x', '--modes', 'none'])).toMatchObject({
      modes: [],
      cluster: 'x',
      peers: [
        { name: 'one', url: 'http://127.0.0.1:7002', account: 'dev' },
        { name: 'two', url: 'http://127.0.0.1:7003/clouddriver', pid: 42 },
      ],
    });
  });

  it('say what is measured instead of the rows', () => {
    expect(parseBenchOptions(['--bundles']).instead).toBe('bundles');
  });

  test.each([
    [['--samples', '0'], '--samples: expected a whole number from 1 to 10000'],
    [['--starts=many'], '--starts: expected a whole number from 1 to 1000'],
    [['--modes', 'watch'], "--modes: expected some of default, interval, stream, not 'watch'"],
    [['--modes', 'none'], '--modes: expected a mode, or a --peer'],
    [
      ['--only', 'deploys,memory'],
      "--only: expected some of starts, deploys, load, reads, fill, cycles, imports, calls, accounts, images, artifacts, v1, agents, not 'memory'",
    ],
    [['--peer', 'one=http://127.0.0.1:1'], '--peer: expected --cluster as well'],
    [['--peer', 'http://127.0.0.1:1', '--cluster', 'x'], '--peer: expected NAME=VALUE'],
    [['--peer', 'a|b=http://127.0.0.1:1', '--cluster', 'x'], '--peer: expected NAME=VALUE'],
    [['--peer', 'one=file:///etc', '--cluster', 'x'], '--peer: expected an address such as'],
    [['--peer-pid', 'one=1'], '--peer-pid: there is no --peer one=…'],
    [['--bundles', '--units'], '--bundles, --units: expected one of them'],
  ])('%j are refused', (args, message) => {
    expect(() => parseBenchOptions(args)).toThrow(message);
  });

  it('all stand in the help', () => {
    const names = ['samples', 'starts', 'modes', 'only', 'cluster', 'peer', 'peer-pid', 'peer-account'];
    for (const name of [...names, 'write', 'json', 'bundles', 'units', 'help']) {
      expect(benchHelp).toContain(`\n  --${name}`);
    }
  });
});
