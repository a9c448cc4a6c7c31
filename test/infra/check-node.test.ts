import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import packageJson from '#package.json' with { type: 'json' };
import { root } from '#test/architecture/source-files.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const script = join(root, 'infra/check-node.sh');

/** Where the script runs: a folder with a `node` on the path that tells a version, perhaps with packages. */
interface Folder {
  /** What the system's Node says; undefined where there is none. */
  readonly version?: string;
  /** How far npm came: nothing, packages without their install scripts, or all. */
  readonly installed: 'nothing' | 'packages' | 'all';
}

/** Runs the script. @returns its exit code and what it said. */
async function check({ version, installed }: Folder): Promise<{ code: number; stderr: string }> {
  await using dir = await makeTempDir();
  const bin = join(dir.path, 'bin');
  await mkdir(bin);
  if (version !== undefined) await writeProgram(join(bin, 'node'), `echo ${version}`);
  if (installed !== 'nothing') await mkdir(join(dir.path, 'node_modules/node/bin'), { recursive: true });
  if (installed === 'all') await writeProgram(join(dir.path, 'node_modules/node/bin/node'), 'exit 9');
  const options = { cwd: dir.path, env: { PATH: bin } };
  try {
    const { stderr } = await promisify(execFile)('/bin/sh', [script], options);
    return { code: 0, stderr };
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, stderr };
  }
}

async function writeProgram(file: string, line: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${line}\n`);
  await chmod(file, 0o755);
}

describe('a script of package.json', () => {
  it.each([
    { installed: 'all' },
    { installed: 'all', version: 'v20.20.2' },
    { installed: 'packages', version: 'v24.0.0' },
    { installed: 'nothing', version: 'v26.1.0' },
  ] as const)('goes on: %o', async (folder) => {
    expect(await check(folder)).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    {
      installed: 'packages',
      version: 'v20.20.2',
      advice: /would be Node v20\.20\.2:.*\n.*Run: npm rebuild node\n$/,
    },
    { installed: 'packages', version: 'v23.11.1', advice: /Run: npm rebuild node\n$/ },
    { installed: 'packages', advice: /would be Node \(none\):/ },
    { installed: 'nothing', version: 'v20.20.2', advice: /Run: npm ci\n$/ },
  ] as const)('says what to do: %o', async ({ advice, ...folder }) => {
    expect(await check(folder)).toEqual({ code: 1, stderr: expect.stringMatching(advice) });
  });

  it('looks first, wherever it runs Node', () => {
    const others = Object.entries(packageJson.scripts).filter(
      ([, text]) =>
        /\b(node|vitest|cdk) /.test(text) && !/^(sh infra\/check-node\.sh|npm run check) && /.test(text),
    );
    expect(others).toEqual([]);
  });
});
