import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shells } from '#cli/completion.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { runCommand, runProgram } from './command-line.ts';

/** What bash offers behind these words. */
async function completeInBash(words: readonly string[], env: { readonly [name: string]: string } = {}) {
  const { stdout: script } = await runCommand(['completion', 'bash']);
  // As readline does it: the words so far, of which the last is being typed.
  const run = `
${script}
complete -p busdriver >/dev/null || exit 1
COMP_WORDS=(busdriver "$@")
COMP_CWORD=$#
_busdriver
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { code, stdout, stderr } = await runProgram('bash', ['-c', run, 'bash', ...words], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').filter((line) => line !== '');
}

describe.each(shells)('the script for %s', (shell) => {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0;

  it.skipIf(!isThere)('is one that the shell accepts', async () => {
    const { code, stdout: script } = await runCommand(['completion', shell]);
    expect(code).toBe(0);
    const { status, stderr } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('names the function, and the command that it asks', async () => {
    const { stdout } = await runCommand(['completion', shell]);
    expect(stdout).toMatch(/cli\/busdriver' __complete -- /);
  });
});

describe('bash', () => {
  it.each([
    [
      [''],
      [
        ...['start', 'demo', 'deploy', 'tasks', 'task', 'cancel', 'accounts', 'compare', 'agent'],
        ...['caching', 'doctor', 'completion'],
      ],
    ],
    [['acc'], ['accounts']],
    [
      ['accounts', ''],
      ['list', 'add', 'remove', 'check', 'compare', 'history', 'import'],
    ],
    [['accounts', 're'], ['remove']],
    [['--user', 'accounts', 'acc'], ['accounts']],
    [
      ['accounts', 'add', 'prod', '--kubeconfig'],
      ['--kubeconfig', '--kubeconfig-secret'],
    ],
    [['accounts', 'list', '--out'], ['--output']],
    [
      ['accounts', 'list', '--output', ''],
      ['table', 'json'],
    ],
    [['accounts', 'list', '--output', 'j'], ['json']],
    [['accounts', 'import', '--file', ''], []],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['nothing', ''], []],
  ])('completes %j by %j', async (words, expected) => {
    expect(await completeInBash(words)).toEqual(expected);
  });

  it('offers nothing when Busdriver does not answer', async () => {
    expect(await completeInBash(['accounts', 'remove', ''], { BUSDRIVER_URL: 'http://127.0.0.1:1' })).toEqual(
      [],
    );
  });
});

describe('names of accounts', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ settings: {} });
    for (const name of ['alpha', 'beta', 'beta-2']) {
      const body = JSON.stringify({ type: 'kubernetes', name, kubeconfigSecret: 'clusters/x' });
      await system.fetch('/credentials', { method: 'POST', body });
    }
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('are completed, whether the URL is in the environment or in the command line', async () => {
    const env = { BUSDRIVER_URL: system.url };
    expect(await completeInBash(['accounts', 'remove', 'b'], env)).toEqual(['beta', 'beta-2']);
    expect(await completeInBash(['--url', system.url, 'accounts', 'check', 'a'])).toEqual(['alpha']);
    expect(await completeInBash(['accounts', 'remove', 'beta', ''], env)).toEqual([]);
    expect(await completeInBash(['tasks', '--account', 'al'], env)).toEqual(['alpha']);
  });
});
