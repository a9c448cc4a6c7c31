import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { root } from '#test/architecture/source-files.ts';
import { runProgram } from '#test/cli/command-line.ts';
import { findAwsProblems } from '#test/infra/aws/runbooks/aws-commands.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { makeTempDir, type TempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const script = path.join(root, 'infra/tools/first-night.sh');

/** Notes its arguments, and answers as AWS does where no alarm of the installation is silent. */
const aws = `
for each in "$@"; do printf '%s\\037' "$each"; done >> "$CALLS"; echo >> "$CALLS"
case "$2 $*" in
  get-function-concurrency*) echo 20 ;;
  describe-alarms*--alarm-names*) echo "$RINGING" ;;
  get-metric-statistics*) echo 12.0 ;;
  get-account-settings*) echo 1000 980 ;;
esac`;

describeWithCluster('npm run first-night', (cluster) => {
  let namespace: TestNamespace;
  let system: System;
  let dir: TempDir;
  let env: { readonly [name: string]: string };
  beforeAll(async () => {
    namespace = await createNamespace('night');
    const accounts = [{ name: 'test', kubeconfigFile: cluster.kubeconfig }];
    system = await startSystem({ settings: { kubernetes: { accounts } } });
  });
  beforeEach(async () => {
    dir = await makeTempDir();
    await writeProgram(path.join(dir.path, 'aws'), aws);
    for (const name of ['npm', 'npx']) await writeProgram(path.join(dir.path, name), 'echo "$0 $*" >&2');
    const calls = path.join(dir.path, 'calls');
    await writeFile(calls, '');
    env = {
      ...{ URL: system.url, ACCOUNT: 'test', NAMESPACE: namespace.name, CALLS: calls, RINGING: 'yes' },
      ...{ REPORT: path.join(dir.path, 'report.md'), PATH: `${dir.path}:${process.env['PATH']}` },
    };
    return dir[Symbol.asyncDispose];
  });
  afterAll(async () => {
    for (const each of [system, namespace]) await each?.[Symbol.asyncDispose]();
  });

  const run = (parts: readonly string[], more = {}) => runProgram(script, parts, { ...env, ...more });
  const readCalls = async () =>
    (await readFile(env['CALLS'] ?? '', 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split('\u001f').slice(0, -1));
  /** The numbers of workers that were set, and changes of the rule. */
  const readChanges = async () =>
    (await readCalls())
      .filter(([, command]) => /^(put|disable|enable)-/.test(command ?? ''))
      .map(([, command, ...options]) => (command?.startsWith('put') ? options.at(-1) : command));
  /** What was found, by what was looked at. */
  async function readReport() {
    const text = await readFile(env['REPORT'] ?? '', 'utf8');
    return new Map(
      [...text.matchAll(/^\| (.+?) \| \d+ \| (.*) \|$/gm)].map(([, what = '', found]) => [what, found]),
    );
  }

  test('calls, disturbs, puts back, and writes what it found', async () => {
    const { code, stderr, progress } = await run(['deploy', 'calls', 'drills', 'day']);

    const report = await readReport();
    expect(Object.fromEntries(report)).toMatchObject({
      '/health': expect.stringMatching(/^200 in [\d.]+ s; 200 in [\d.]+ s; $/),
      '/credentials': expect.stringMatching(/200 in [\d.]+ s; $/),
      'first deploy': expect.stringMatching(/^task \S+ completed; repeated, the request got the same$/),
      'caching agents': expect.stringMatching(/\d+ "intervalMs":/),
      'no workers': 'run-operations-throttles fired; 5 posted, 5 tasks completed',
      'one worker': '20 posted, 20 tasks completed',
      'a schedule that does not run': 'sweep-tasks-silent fired;',
      'Write units of cache': '12.0',
      'alarms in ALARM': '',
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/npm run deploy:check\n.*npx cdk deploy --all/);
    expect(progress).toContain('no workers …\n');
    expect(await readChanges()).toEqual(['0', '20', '20', '1', '20', '20', 'disable-rule', 'enable-rule']);
    expect((await readCalls()).flatMap(findAwsProblems)).toEqual([]);
  });

  test('puts workers back when it is interrupted', async () => {
    const child = spawn(script, ['drills'], {
      env: { ...process.env, ...env, RINGING: '' },
      stdio: 'ignore',
      detached: true,
    });
    const closed = once(child, 'close');
    await expect.poll(async () => (await readCalls()).at(-1)?.[1]).toBe('describe-alarms');
    // As a terminal does at Ctrl-C: everything in the foreground gets it.
    process.kill(-(child.pid ?? 0), 'SIGINT');

    expect(await closed).toEqual([130, null]);
    expect(await readChanges()).toEqual(['0', '20']);
  });

  test('goes on after what fails, and says what to do', async () => {
    const { code, stderr } = await run(['calls', 'day'], { URL: 'http://127.0.0.1:1', ACCOUNT: 'nobody' });

    const report = await readReport();
    expect(code).toBe(1);
    expect(stderr).toContain('No answer: is URL=http://127.0.0.1:1 reached from here?');
    expect(report.get('/health')).toMatch(/^FAILED: /);
    expect(report.get('later deploy')).toMatch(/^FAILED: .+See docs.first-night/);
    expect(report.get('Read units of tasks')).toBe('12.0');
    const refused = await run(['calls'], { ACCOUNT: 'nobody' });
    expect(refused.code).toBe(1);
    expect((await readReport()).get('first deploy')).toMatch(/^FAILED: Expected a task, got: .+nobody/);
  });

  test('names what is wrong on its command line', async () => {
    expect((await run(['--help'])).stdout).toMatch(/^Usage: [\s\S]+Exit codes:/);
    for (const [parts, more, message] of [
      [['dril'], {}, "'dril': expected deploy, calls, drills or day"],
      [['calls'], { ACCOUNT: '' }, "ACCOUNT: expected the name of an account, not ''"],
      [['drills'], { NAMESPACE: 'a"b' }, 'NAMESPACE: expected a namespace'],
    ] as const)
      expect(await run(parts, more)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    expect(await readCalls()).toEqual([]);
  });
});
