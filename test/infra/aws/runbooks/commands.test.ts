import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { toCachingAgentView } from '#caching/scheduling/caching-agent-view.ts';
import { routes } from '#functions/routes.ts';
import packageJson from '#package.json' with { type: 'json' };
import { findAwsProblems, listAwsOperations } from './aws-commands.ts';
import { listCommands, readPages } from './page-commands.ts';
import { type Call, runRecorded } from './recording-shell.ts';

const commands = listCommands(readPages());
const needsJq = ({ text }: { readonly text: string }): boolean => /\bjq\b/.test(text);
/** The first program of these that commands need, and this machine lacks. */
const findMissing = ({ text }: { readonly text: string }) =>
  ['jq', 'sqlite3'].find(
    (name) =>
      new RegExp(`\\b${name}\\b`).test(text) &&
      !['/usr/bin', '/bin'].some((dir) => existsSync(`${dir}/${name}`)),
  );

/** Where commands are run of which one uses what another page told to set. */
const env = {
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_ENDPOINT_URL_EVENTBRIDGE: 'http://127.0.0.1:2',
};

const nowMs = 1_800_000_000_000;
const waiting: StoredCachingAgent = {
  ...{ account: 'shop', name: 'core', provider: 'kubernetes', intervalMs: 30_000, usedAtMs: nowMs },
  ...{ lastTurn: 0, nextRunMs: nowMs + 20_000, attempts: 0, failures: 0, asOfMs: nowMs - 9_000 },
};
const ran = { durationMs: 5, items: 7, changes: 0, startedAtMs: nowMs, lagMs: 4_200 };
const lastRun = { outcome: 'FAILURE', ...ran } as const;
const failing = { failures: 3, lastError: { atMs: nowMs, message: 'no route to host' }, lastRun };
/** As `GET /cache/introspection` answers it. */
const introspection = JSON.stringify(
  [waiting, { ...waiting, account: 'edge', ...failing }].map((agent) => toCachingAgentView(agent, nowMs)),
);
const programs = { curl: `case "$*" in *-D*) echo 'Age: 412';; *) echo '${introspection}';; esac` };

/** A line that begins as a command does. */
const startsProgram = /^\s*(?:aws|npm|npx|jq|curl|kubectl) /m;

/** npm's own, of which pages use these. */
const npmCommands = ['audit', 'ci', 'install', 'link', 'rebuild', 'start', 'test'];

describe('the commands of pages', () => {
  it('are found', () => {
    const places = commands.map(({ place }) => place.split(':')[0]);
    expect(commands.length).toBeGreaterThan(100);
    expect(new Set(places)).toEqual(new Set([...places, 'docs/operate.md', 'docs/deploy.md', 'docs/eks.md']));
  });

  it('stand in blocks that say so', () => {
    const others = [...readPages()].flatMap(([path, text]) =>
      [...text.matchAll(/^```(.*)\n(.*?)^```$/gms)]
        .filter(([, language, block = '']) => language !== 'sh' && startsProgram.test(block))
        .map(([block]) => `${path}: ${block}`),
    );
    expect(others).toEqual([]);
  });

  it.for(commands.filter((each) => !needsJq(each)))('$place can be run', async (command, { skip }) => {
    const missing = findMissing(command);
    skip(missing !== undefined, `there is no ${missing}`);
    const { calls } = await runRecorded(command.text, { programs, env });
    expect(calls.flatMap(findProblems)).toEqual([]);
  });

  it.for(commands.filter(needsJq))(
    '$place can be run on what the API answers',
    async ({ text }, { skip }) => {
      skip(findMissing({ text }) !== undefined, 'there is no jq');
      const { calls, stdout } = await runRecorded(text, { programs, env });

      expect(calls.flatMap(findProblems)).toEqual([]);
      expect(stdout).toMatch(/edge|^4200$/m);
      expect(stdout).not.toContain('shop');
      const members = [...text.matchAll(/(?<=[[(\s])\.(\w+)(?:\.(\w+))?/g)].flatMap(([, ...names]) => names);
      expect(members.filter((name) => name !== undefined && !introspection.includes(`"${name}":`))).toEqual(
        [],
      );
    },
  );
});

describe('commands with faults', () => {
  const limit = 'lambda put-function-concurrency --function-name x';
  const specify = 'dynamodb update-time-to-live --table-name x --time-to-live-specification';
  it.each([
    ['logs tial /aws/lambda/x', 'logs/tial is not in'],
    ['logs tail --since 1h', '--group is missing'],
    ['logs tail /aws/lambda/x --filter x', 'there is no option --filter'],
    ['dynamodb describe-table --table busdriver-prod-tasks', 'there is no option --table'],
    [limit, '--reserved-concurrent-executions is missing'],
    [`${limit} --reserved-concurrent-executions none`, 'expected a number'],
    ['cloudwatch describe-alarms --state-value RINGING', 'expected one of OK'],
    ['cloudwatch describe-alarms --query MetricAlarms[].[AlarmTitle]', 'the answer has no AlarmTitle'],
    [`${specify} On=true`, 'expected Enabled, AttributeName'],
    ['dynamodb get-item --table-name x --key {pk:1}', 'expected JSON'],
    ['events enable-rule --name x --name y', 'there twice'],
    ['events enable-rule x', 'expected an option'],
  ])('%s are found', (args, told) => {
    expect(findAwsProblems(args.split(' '))).toContainEqual(expect.stringContaining(told));
  });

  const broken = [
    'aws logs tail "/aws',
    'nosuchprogram --help',
    'aws logs tail $GROUP',
    'cat missing | grep x',
  ];
  it.each(broken)('do not run: %s', async (text) => {
    await expect(runRecorded(text)).rejects.toThrow();
  });

  it('of other programs are found, too', () => {
    const calls: Call[] = [
      ['npm', 'run', 'tset'],
      ['npm', 'strat'],
      ['node', 'dist/agnet/main.js'],
      ['node', 'dist/agent/main.js', '--confg', 'busdriver-agent.yaml'],
      ['curl', '-s', 'https://clouddriver.example.com/cache/introspections'],
      ['curl', '-s', '-X', 'PUT', 'https://clouddriver.example.com/cache/introspection'],
    ];

    expect(calls.map((call) => findProblems(call).length)).toEqual([1, 1, 1, 1, 1, 1]);
  });
});

describe('the table of commands of AWS', () => {
  it('has those that pages use, and no other', async () => {
    const calls = await Promise.all(
      commands
        .filter((one) => !needsJq(one) && !findMissing(one))
        .map(({ text }) => runRecorded(text, { programs, env })),
    );
    const used = calls
      .flatMap((run) => run.calls)
      .filter(([program, first = '']) => program === 'aws' && !first.startsWith('-'))
      .map(([, service, command]) => `${service}/${command}`);
    expect(listAwsOperations().sort()).toEqual([...new Set(used)].sort());
  });
});

function findProblems([program, ...args]: Call): string[] {
  if (program === 'aws') return args[0]?.startsWith('--') ? [] : findAwsProblems(args);
  if (program === 'npm') return findNpmProblems(args);
  if (program === 'node') return findNodeProblems(args);
  return program === 'curl' ? findCurlProblems(args) : [];
}

function findNpmProblems([command = '', script = '']: readonly string[]): string[] {
  if (command === 'run') return script in packageJson.scripts ? [] : [`there is no script ${script}`];
  return npmCommands.includes(command) ? [] : [`npm has no command ${command}`];
}

/** Programs that the build does not make, and options that they do not have. What a page has Node itself do is tried where it belongs. */
function findNodeProblems([file = '', ...args]: readonly string[]): string[] {
  if (file === '--eval') return [];
  const [, name] = /^dist\/(\w+)\/main\.js$/.exec(file) ?? [];
  const folder = path.resolve(
    import.meta.dirname,
    `../../../../infra/${name === 'host' ? 'kubernetes' : name}`,
  );
  const sources = ['main.ts', 'command-line.ts'].map((each) => path.join(folder, each)).filter(existsSync);
  if (name === undefined || sources.length === 0) return [`the build makes no ${file}`];
  const text = sources.map((source) => readFileSync(source, 'utf8')).join('');
  return args
    .filter((arg) => arg.startsWith('--') && !text.includes(`${arg.slice(2)}: {`))
    .map((arg) => `${file} has no option ${arg}`);
}

/** Calls of the API that no route answers. */
function findCurlProblems(args: readonly string[]): string[] {
  const method = args[args.indexOf('-X') + 1] ?? 'GET';
  return args
    .filter((arg) => arg.startsWith('https://clouddriver.example.com/'))
    .map((url) => ({ url, method: args.includes('-X') ? method : 'GET' }))
    .filter((call) => !routes.some((route) => isAnsweredBy(call, route)))
    .map(({ url }) => `no route answers ${method} ${url}`);
}

function isAnsweredBy(
  call: { readonly url: string; readonly method: string },
  route: { readonly method: string; readonly path: string },
): boolean {
  const path = new URL(call.url).pathname.split('/');
  const parts = route.path.split('/');
  const isAlike = parts.every((part, index) => part === path[index] || part.includes('{'));
  return route.method === call.method && parts.length === path.length && isAlike;
}
