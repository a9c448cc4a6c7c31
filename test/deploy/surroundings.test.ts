import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempDir } from '../support/temp-dir.ts';
import { patchMinistack } from './ministack-patches.ts';
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
  const call = 'x = f(\n    old_tagged, new_tagged, child_name, child_logical_id,\n)\n';
  const record =
    'y = {\n            "LogicalResourceId": child_logical_id,\n            "Properties": resolved_props,\n' +
    '            "Attributes": attrs,\n}\n';

  it('mends once, and leaves what is mended alone', async () => {
    await using folder = await makePackage(call + record);
    await patchMinistack(folder.path);
    const once = await folder.read();
    await patchMinistack(folder.path);

    expect(once).toContain('child_logical_id, prev.get("Attributes"),');
    expect(once).toContain('**(attrs or {})');
    expect(await folder.read()).toBe(once);
  });

  it.each([
    ['another version', 'nothing', /is there 0 times instead of once/],
    ['an ambiguous one', call + call + record, /is there 2 times instead of once/],
  ])('refuses %s', async (_what, text, message) => {
    await using folder = await makePackage(text);
    await expect(patchMinistack(folder.path)).rejects.toThrow(message);
    expect(await folder.read()).toBe(text);
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

describe('parseRunOptions', () => {
  it('takes phases that there are', () => {
    const options = parseRunOptions(['--keep', '--only=update'], ['update', 'fuzz']);
    expect(options).toMatchObject({ keep: true, only: ['update'], help: false });
    expect(() => parseRunOptions(['--only=all'], ['update', 'fuzz'])).toThrow(
      '--only: expected phases among update, fuzz, not all',
    );
  });
});

async function makePackage(
  text: string,
): Promise<{ readonly path: string; read(): Promise<string> } & AsyncDisposable> {
  const dir = await makeTempDir();
  const file = path.join(dir.path, 'services/cloudformation/provisioners.py');
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  return {
    path: dir.path,
    read: () => readFile(file, 'utf8'),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}
