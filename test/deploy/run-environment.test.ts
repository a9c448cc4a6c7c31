import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { patches, patchMinistack } from './ministack-patches.ts';
import { findLastLine } from './phase-output.ts';
import { endProcesses, listDescendants } from './processes.ts';
import { openPythonEnvironment, PythonUnavailableError } from './python-environment.ts';
import { parseRunOptions } from './run-options.ts';

// What npm run test:deploy stands on, tested without it.
describe('the virtual environment', () => {
  it('says what is missing where there is no Python', async () => {
    await using dir = await makeTempDir();
    const options = { report: () => undefined, cacheDir: dir.path, pythonCommand: 'no-such-python' };
    const opening = openPythonEnvironment(options);
    await expect(opening).rejects.toThrow(PythonUnavailableError);
    await expect(opening).rejects.toThrow(/^no-such-python with its module venv is needed/);
  });
});

describe('patchMinistack', () => {
  const whole = patches.map(({ find }) => find).join('\n');

  it('mends once, and leaves what is mended alone', async () => {
    await using folder = await makePackage(whole);
    await patchMinistack(folder.path);
    const once = await folder.readAll();
    await patchMinistack(folder.path);

    expect(once.join()).toContain('child_logical_id, prev.get("Attributes"),');
    expect(once.join()).toContain('**(attrs or {})');
    expect(once.join()).toContain('"AWS::Events::Archive"');
    expect(await folder.readAll()).toEqual(once);
  });

  it.each([
    ['another version', 'nothing', /is there 0 times instead of once/],
    ['an ambiguous one', whole + whole, /is there 2 times instead of once/],
  ])('refuses %s', async (_what, text, message) => {
    await using folder = await makePackage(text);
    await expect(patchMinistack(folder.path)).rejects.toThrow(message);
    expect(new Set(await folder.readAll())).toEqual(new Set([text]));
  });
});

describe('processes', () => {
  it('are found below the one that started them, and ended', async () => {
    const child = spawn('sh', ['-c', 'sleep 60 & wait']);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const find = () => listDescendants(process.pid);
    await expect.poll(find).toContainEqual({ pid: expect.any(Number), command: 'sleep 60' });
    const found = (await find()).filter(({ pid, command }) => pid === child.pid || command === 'sleep 60');

    endProcesses(found.map(({ pid }) => pid));
    await exited;
    endProcesses([child.pid ?? 0]);
    expect(found).toHaveLength(2);
  });
});

describe('findLastLine', () => {
  it('passes over colours and empty lines, and shortens', () => {
    expect(findLastLine('one\n\u001b[32m ✓ two\u001b[39m\n\u001b[39m\n \n')).toBe('✓ two');
    expect(findLastLine('x'.repeat(1_000)).length).toBeLessThan(100);
    expect(findLastLine('')).toBe('');
  });
});

describe('parseRunOptions', () => {
  it('takes phases that there are', () => {
    const options = parseRunOptions(['--keep', '--only=update'], ['update', 'fuzz']);
    expect(options).toMatchObject({ keep: true, only: ['update'], help: false });
    expect(() => parseRunOptions(['--only=all'], ['update', 'fuzz'])).toThrow(
      '--only: expected phases among update, fuzz, not all',
    );
  });
});

/** Every file that is mended, with the same text. */
async function makePackage(
  text: string,
): Promise<{ readonly path: string; readAll(): Promise<string[]> } & AsyncDisposable> {
  const dir = await makeTempDir();
  const files = [...new Set(patches.map(({ file }) => path.join(dir.path, file)))];
  for (const file of files) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return {
    path: dir.path,
    readAll: () => Promise.all(files.map((file) => readFile(file, 'utf8'))),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}
