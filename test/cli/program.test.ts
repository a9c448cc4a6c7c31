import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '#cli/program.ts';
import { Terminal } from '#cli/terminal.ts';
import packageJson from '#package.json' with { type: 'json' };
import { listen } from '#test/support/network/listening.ts';
import { launcher, runCommand, runProgram } from './command-line.ts';

const program = buildProgram({ terminal: new Terminal(), environment: {} });

/** Every command with the words that call it. */
const commands = listCommands(program, []);

function listCommands(command: Command, words: readonly string[]): [string, Command][] {
  const below = command.createHelp().visibleCommands(command);
  return [
    [words.join(' '), command],
    ...below.flatMap((each) => listCommands(each, [...words, each.name()])),
  ];
}

describe('help', () => {
  it('is there for every command that the design names', () => {
    expect(commands.map(([words]) => words)).toEqual([
      '',
      'start',
      'demo',
      'deploy',
      'tasks',
      'task',
      'cancel',
      'accounts',
      'accounts list',
      'accounts add',
      'accounts remove',
      'accounts check',
      'accounts compare',
      'accounts history',
      'accounts import',
      'compare',
      'agent',
      'agent enroll',
      'agent list',
      'agent check',
      'agent revoke',
      'caching',
      'doctor',
      'completion',
    ]);
  });

  it.each(commands)('of "%s" names each option and argument, and has an example', async (words, command) => {
    const { code, stdout, stderr } = await runCommand([...words.split(' ').filter(Boolean), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // The launcher runs these: they are programs of their own, without the options of all commands.
    const common = ['start', 'demo'].includes(words) ? [] : program.options;
    for (const { flags, description } of [...command.options, ...common]) {
      expect(description).not.toBe('');
      expect(stdout).toContain(flags);
    }
    for (const argument of command.registeredArguments) {
      expect(argument.description).not.toBe('');
      expect(stdout).toContain(argument.name());
    }
    const [, examples = ''] = stdout.split('\nExamples:\n');
    expect(examples).toContain(`busdriver ${words}`.trim());
  });

  it('is not the only place that names each command and variable: docs/cli.md does', async () => {
    const page = await readFile(path.resolve(import.meta.dirname, '../../docs/cli.md'), 'utf8');
    const shown = [...page.matchAll(/^\| `(busdriver [a-z ]+)` \|/gm)].map(([, words]) => words);
    const ends = commands.filter(([, command]) => command.commands.length === 0);
    expect(shown).toEqual(ends.map(([words]) => `busdriver ${words}`));
    const { stdout } = await runCommand(['--help']);
    for (const [name] of stdout.matchAll(/BUSDRIVER_[A-Z_]+/g)) expect(page).toContain(`\`${name}\``);
  });

  it('tells the version', async () => {
    expect(await runCommand(['--version'])).toMatchObject({
      code: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    });
  });
});

describe('a wrong command line ends with 2, says what is wrong, and prints nothing else', () => {
  it.each([
    [[], 'Usage: busdriver'],
    [['accounts'], 'Usage: busdriver accounts'],
    [['account'], "unknown command 'account'\n(Did you mean accounts?)"],
    [['accounts', 'lst'], "unknown command 'lst'\n(Did you mean list?)"],
    [['accounts', 'list', '--jsno'], "unknown option '--jsno'"],
    [['accounts', 'list', 'surplus'], 'too many arguments'],
    [['accounts', 'list', '--output', 'xml'], "argument 'xml' is invalid. Allowed choices are table, json"],
    [['accounts', 'list', '--url', 'ftp://host'], 'Expected an http or https URL'],
    [['accounts', 'list', '--url', 'http://me:planted-7f@host'], 'a secret is given by BUSDRIVER_TOKEN'],
    [['accounts', 'list', '--user', 'a\nb'], 'Expected 1 to 255 printable characters'],
    [['accounts', 'remove'], "missing required argument 'account'"],
    [['accounts', 'remove', ''], 'Expected a value'],
    [['accounts', 'add', 'a/b', '--eks', 'c'], 'Expected 1 to 253 letters'],
    [['accounts', 'add', 'a'], 'expected one of --kubeconfig, --kubeconfig-secret, --eks, --host, got none'],
    [['accounts', 'add', 'a', '--eks', 'c', '--host', 'http://h'], 'got --eks and --host'],
    [['accounts', 'add', 'a', '--eks', 'c', '--ca', 'f'], '--ca does not go with --eks'],
    [['accounts', 'check', 'a', '--context', 'c'], '--context and --namespace go with --kubeconfig'],
    [['accounts', 'import'], 'expected one of --go-clouddriver, --clouddriver, --file, got none'],
    [['accounts', 'import', '--file', 'f', '--clouddriver', 'http://h'], 'cannot be used with option'],
    [['compare', 'a'], "required option '--with <url>' not specified"],
    [['compare', 'a', '--with', 'http://h', '--objects', '1001'], 'Expected a number, 0 to 1000'],
    [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish'],
  ])('%j', async (words, message) => {
    const { code, stdout, stderr } = await runCommand(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('a failure ends with 1 and tells the next step', () => {
  it('when nobody answers', async () => {
    const server = await startServer(() => ({ status: 200, body: '' }));
    await server[Symbol.asyncDispose]();
    const { code, stdout, stderr } = await runCommand(['accounts', 'list', '--url', server.url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const { host } = new URL(server.url);
    expect(stderr).toBe(
      `error: ${server.url} does not answer: connect ECONNREFUSED ${host}\n` +
        'Next: start Busdriver with busdriver start, or name where it answers by --url\n',
    );
  });

  it.each([
    [
      401,
      '{"message":"Unauthorized"}',
      '401: Unauthorized',
      'set BUSDRIVER_TOKEN to the token that it asks for',
    ],
    [403, '{"message":"Access denied"}', '403: Access denied', 'name a user who may, by --user'],
    [503, '', '503: without a reason', 'try again in a moment'],
    [302, '', '302: it redirects to http://elsewhere/', 'name the URL of the API itself'],
    [200, '<html>', 'answers something else than JSON', 'look whether the URL is that of the API itself'],
  ])('when the server answers %i %s', async (...[status, body, message, next]) => {
    await using server = await startServer(() => ({ status, body }));
    const { code, stderr } = await runCommand(['accounts', 'list', '--url', server.url]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`\nNext: ${next}\n`);
  });
});

describe('what is sent', () => {
  it('has the user and the token, which is taken from the environment and never shown', async () => {
    await using server = await startServer(() => ({ status: 401, body: '{"message":"no"}' }));
    const env = { BUSDRIVER_TOKEN: 'planted-token-2b7c', BUSDRIVER_URL: `${server.url}/` };
    const { stdout, stderr } = await runCommand(
      ['accounts', 'history', 'a b', '--user', 'me@example.com'],
      env,
    );

    expect(server.requests).toEqual([
      { path: '/credentials/a%20b/history', user: 'me@example.com', token: 'Bearer planted-token-2b7c' },
    ]);
    expect(stdout + stderr).not.toContain('planted');
  });

  it('goes nowhere else when the server redirects', async () => {
    await using other = await startServer(() => ({ status: 200, body: '[]' }));
    await using server = await startServer(() => ({ status: 307, body: '', location: other.url }));
    const { code } = await runCommand(['accounts', 'list', '--url', server.url], { BUSDRIVER_TOKEN: 'x' });
    expect({ code, requests: other.requests }).toEqual({ code: 1, requests: [] });
  });
});

describe('output', () => {
  const accounts =
    '[{"name":"evil\\u001b[31mred\\u202e\\nline","cloudProvider":"kubernetes","health":{"state":"DOWN"}}]';
  const start = () =>
    startServer((target) => ({ status: 200, body: target.startsWith('/credentials?') ? accounts : '[]' }));

  it('tells terminals nothing that servers say: neither escape sequences nor lines', async () => {
    await using server = await start();
    const { stdout } = await runCommand(['accounts', 'list', '--url', server.url]);
    expect(stdout.split('\n')).toEqual(
      [
        'NAME           PROVIDER    ORIGIN    STATE  LAG  REASON',
        'evilred line  kubernetes  settings  DOWN   -    -',
        '',
      ].map((line) => line.replace('NAME           ', 'NAME          ')),
    );
  });

  it('has colours where they are asked for, and none in a pipe', async () => {
    await using server = await start();
    const words = ['accounts', 'list', '--url', server.url];
    const esc = '\u001b';
    const forced = await runCommand(words, { FORCE_COLOR: '1' });
    expect(forced.stdout).toContain(`${esc}[31mDOWN`);
    const piped = await runCommand(words);
    expect(piped.stdout).not.toContain(esc);
    const help = await runCommand(['--help']);
    expect(help.stdout).not.toContain(esc);
  });

  it('tells on standard error what takes longer than a second', async () => {
    await using server = await startServer(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_300));
      return { status: 200, body: '[]' };
    });
    const { code, stdout, progress } = await runCommand([
      'accounts',
      'list',
      '--output',
      'json',
      '--url',
      server.url,
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '[]\n' });
    expect(progress).toEqual([`reading accounts from ${server.url} …\n`]);
  });

  it('may be read in part', async () => {
    const { code, stdout, stderr } = await runProgram('sh', ['-c', `'${launcher}' --help | head -1`]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'Usage: busdriver [options] [command]\n',
      stderr: '',
    });
  });
});

describe('the launcher', () => {
  it('runs by a link from any folder', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'busdriver cli-'));
    try {
      await symlink(launcher, path.join(folder, 'busdriver'));
      await symlink('busdriver', path.join(folder, 'second'));
      const { code, stdout } = await runProgram(path.join(folder, 'second'), ['--version']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${packageJson.version}\n` });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

interface TestAnswer {
  readonly status: number;
  readonly body: string;
  readonly location?: string;
}

/** A server that records who asks for what. */
async function startServer(answer: (target: string) => TestAnswer | Promise<TestAnswer>) {
  const requests: { path: string; user: unknown; token: unknown }[] = [];
  const server = createServer(async ({ url = '', headers }, response) => {
    requests.push({ path: url, user: headers['x-spinnaker-user'], token: headers.authorization });
    const { status, body, location = 'http://elsewhere/' } = await answer(url);
    response.writeHead(status, { 'Content-Type': 'application/json', Location: location }).end(body);
  });
  return {
    ...(await listen(server)),
    requests,
  };
}
